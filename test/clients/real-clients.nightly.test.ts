import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };

let installation: Installation;
beforeAll(async () => {
  if (clients === undefined) return;
  installation = await install({ warm: true });
  mkdirSync(join(installation.project, 'lib'));
});
afterAll(() => installation?.remove());

const where = () => ({ cwd: installation.project, env: { CONTEXTD_HOME: installation.home } });

/** A command whose words the shell takes as they are: a quoted here-document. */
function hereDocument(text: string): string {
  return `safe_bash --command "$(cat <<'EOF'\n${text}\nEOF\n)"`;
}

/** True if a call of the session ran and nothing has ended the session. Ends it. */
async function isLive(session = ''): Promise<boolean> {
  expect(session).not.toBe('');
  const { stdout } = await installation.run(CTXD, ['session', 'end', '--session', session, '--json']);
  return JSON.parse(stdout).ended;
}

describe.skipIf(clients === undefined)('in the real Claude Code', () => {
  // The shell of the client would run or write each of these outside contextd.
  const ASKED = [
    'safe_bash "$(touch made)"',
    'safe_bash "`touch made`"',
    'safe_bash `touch made`',
    'safe_bash <(touch made)',
    'safe_bash ls > >(touch made)',
    'safe_bash ls > ~/.bashrc',
    'safe_bash ls >> made',
    'safe_bash ls &> made',
    'safe_bash ls 3> made',
    'safe_bash ls; touch made',
    'safe_bash ls && touch made',
    'safe_bash ls || touch made',
    'safe_bash ls | tee made',
    'safe_bash ls | sh',
    'safe_bash ls | xargs touch made',
    'safe_bash ls & touch made',
    'safe_bash ls\ntouch made',
    "safe_bash 'a\\u0027; touch made; echo \\u0027'",
    'LD_PRELOAD=/tmp/x.so safe_bash ls',
    'PATH=/tmp/x safe_bash ls',
    'export PATH=/tmp/x:/usr/bin:/bin; safe_bash ls',
    'safe_bash() { touch made; }; safe_bash ls',
    'alias safe_bash=touch; safe_bash made',
    'hash -p /usr/bin/touch safe_bash; safe_bash made',
    `safe_bash "\${made:-$(touch made)}"`,
    'safe_bash $((made[$(touch made)]))',
    'safe_bash "$(cat <<EOF\n$(touch made)\nEOF\n)"',
    'safe_bash "$(cat <<\'EOF\'\nls\nEOF\ntouch made\n)"',
    'safe_bash "$(cat <<\'EOF\' > made\nls\nEOF\n)"',
    'safe_bash "$(cat <<\'EOF\' | sh\ntouch made\nEOF\n)"',
    'safe_bash "$(sh <<\'EOF\'\ntouch made\nEOF\n)"',
    'safe_bash "$(cat /etc/hostname)"',
    'safe_bashful ls',
    'safe_bash/../x ls',
    'cd .claude/bin && ./safe_bash ls',
    // Programs that a repository brings, and builtins that run programs.
    '.claude/tools/evil/evil',
    './.claude/tools/evil/evil',
    '".claude/tools/evil/evil" *',
    '.claude/tools/../../lib/evil',
    '.claude/tools/safe_bash/../evil/evil',
    '.claude/tools/safe_bash/../../../lib/evil',
    '.claude/tools/safe_bash/safe_bash/../../evil/evil ls',
    '.claude/tools/safe_bash/evil',
    '.claude/tools/safe_bash/safe_bash; .claude/tools/evil/evil',
    '.claude/tools/safe_bash/safe_bash "$(touch made)"',
    '.claude/tools/safe_bash/safe_bash ls > made',
    '.claude/bin/../tools/evil/evil ls',
    'jobs -x touch made',
    'jobs -x .claude/tools/evil/evil',
    'builtin jobs -x touch made',
    'command jobs -x touch made',
    'return -x touch made',
    ...['command', 'exec', 'env', 'time', 'nice', 'builtin'].map((prefix) => `${prefix} .claude/tools/evil/evil`),
  ];
  const EVIL = ['lib/evil', '.claude/tools/evil/evil', '.claude/tools/safe_bash/evil'];

  it('a person is asked before the client itself would run or write something beside the call', async () => {
    const home = mkdtempSync(join(tmpdir(), 'client-home-'));
    for (const name of EVIL) {
      mkdirSync(dirname(join(installation.project, name)), { recursive: true });
      writeFileSync(join(installation.project, name), '#!/bin/sh\ntouch made\n', { mode: 0o755 });
    }
    const before = readdirSync(installation.project);
    const absolute = `${installation.project}/.claude/bin/../tools/evil/evil ls`;
    const { results } = await runClaude(claude, [...ASKED, absolute], { ...where(), home });
    expect([...ASKED, absolute].filter((_, index) => results[index]?.isError !== true)).toEqual([]);
    expect(ASKED.filter((_, index) => /^Exit code/.test(results[index]?.text ?? ''))).toEqual([]);
    expect(readdirSync(installation.project)).toEqual(before);
    expect(existsSync(join(home, '.bashrc'))).toBe(false);
    rmSync(home, { recursive: true });
    for (const name of EVIL) rmSync(join(installation.project, name));
    rmdirSync(join(installation.project, '.claude/tools/evil'));
  });

  it('a call in words asks nothing, runs where it is made, also after cd, and arrives whole in every taught way of quoting', async () => {
    const { project } = installation;
    const cases: readonly (readonly [command: string, answer: string | RegExp])[] = [
      ["safe_bash 'echo plain'", 'plain'],
      ['safe_bash "echo \\"two\\" \\$((1+1)) \\`echo three\\`"', 'two 2 three'],
      [`safe_bash 'echo "it'\\''s"'`, "it's"],
      [hereDocument(`printf %s "$(printf 1)"; echo "it's"`), "1it's"],
      ["cd lib && safe_bash 'pwd'", `${project}/lib`],
      ["safe_bash 'pwd'", `${project}/lib`],
      [`${project}/.claude/bin/safe_bash 'echo absolute'`, 'absolute'],
      ["cd .. && safe_bash 'pwd'", project],
      ["safe_bash 'echo one' && safe_bash 'echo two' | head -1", 'one\ntwo'],
      ["timeout 60 safe_bash 'echo limited' 2>&1", 'limited'],
      [
        'safe_bash \'{"command":"cat","stdin":"{a} | b > c; $d"}\'',
        /^\{"success":true.*"stdout":"\{a\} \| b > c; \$d"/,
      ],
      ["safe_bash 'echo fails >&2; exit 3' && safe_bash 'touch lib/made'", /^Exit code 3\nfails\n\[contextd exit 3\b/],
      ['safe_read .claude/rules/contextd.md', /^# contextd\n/],
      [".claude/tools/safe_bash/safe_bash 'echo by path'", 'by path'],
      ['safe_jobs list', /^\S/],
      ['session_init', /^\S/],
    ];
    const { results, prompt } = await runClaude(
      claude,
      cases.map(([command]) => command),
      where(),
    );
    for (const [index, [command, answer]] of cases.entries()) {
      const text = results[index]?.text;
      if (typeof answer === 'string') expect(text, command).toBe(answer);
      else expect(text, command).toMatch(answer);
    }
    expect(readdirSync(join(project, 'lib'))).toEqual([]);
    expect(prompt).toContain('# contextd\n');
  });

  it('a call that its time-out moves to the background goes on, and the session ends with the conversation', async () => {
    const { results, log } = await runClaude(
      claude,
      [
        {
          tool: 'Bash',
          input: {
            command: "safe_bash 'until [ -e lib/go ]; do sleep 0.1; done; echo went on > lib/result'",
            description: 'a step',
            timeout: 1_000,
          },
        },
        "safe_bash 'touch lib/go; until [ -s lib/result ]; do sleep 0.1; done; cat lib/result'",
      ],
      where(),
    );
    expect(results[0]?.text).toContain('background');
    expect(results[1]?.text).toBe('went on');
    for (const name of ['go', 'result']) rmSync(join(installation.project, 'lib', name));
    expect(await isLive(/"session_id":"([^"]+)"/.exec(log)?.[1])).toBe(false);
  });

  it('a call works too if the client was started in a subdirectory of the repository', async () => {
    const { project } = installation;
    const lib = join(project, 'lib');
    execFileSync('git', ['init', '-q'], { cwd: project });
    try {
      const { results } = await runClaude(claude, ["safe_bash 'pwd'"], { ...where(), cwd: lib });
      expect(results).toEqual([{ text: lib, isError: false }]);
    } finally {
      rmSync(join(project, '.git'), { recursive: true });
    }
  });

  it('issue 19 part 8: what was done survives a compaction through the hooks', async () => {
    const home = mkdtempSync(join(tmpdir(), 'client-home-'));
    const work = [
      "safe_bash 'echo needed by nobody >&2; exit 3'",
      { tool: 'TaskCreate', input: { subject: 'find out why', description: 'a step' } },
      { tool: 'TaskUpdate', input: { taskId: '1', status: 'in_progress' } },
    ];
    try {
      const before = await runClaude(claude, work, { ...where(), home, prompt: 'Make it work, please.' });
      const resume = /"session_id":"([^"]+)"/.exec(before.log)?.[1] ?? '';
      await runClaude(claude, work, { ...where(), home, resume, prompt: '/compact' });
      const { stdout } = await installation.run(CTXD, ['checkpoint', 'list', '--session', resume, '--json']);
      const [saved] = JSON.parse(stdout);
      expect(saved).toMatchObject({ session: resume, cause: 'compaction' });
      const after = await runClaude(claude, [`checkpoint_restore ${saved.id}`], {
        ...where(),
        home,
        resume,
        prompt: 'Go on.',
      });
      // The conversation begins with what the hook of its start printed.
      expect(after.prompt).toContain(`\`checkpoint_restore ${saved.id}\` shows what the session did.`);
      expect(after.prompt).toContain('to do: "[>] #1 find out why"');
      // The warm start follows the checkpoint.
      expect(after.prompt).toMatch(/In short:\ncheckpoint cp_.*Recorded facts of earlier work\..*exit 3": exit 3/s);
      expect(after.results[0]?.text).toContain('asked: "Make it work, please."');
      expect(after.results[0]?.text).toContain('failing: "echo needed by nobody >&2; exit 3: exit 3"');
      const next = await runClaude(claude, [], { ...where(), home, prompt: 'What was done?' });
      expect(next.prompt).toContain(`This session is new. The one before, ${resume}, did something last at`);
      expect(next.prompt).toContain('asked "Go on."');
      expect(next.prompt).toContain('"echo needed by nobody >&2; exit 3": exit 3');
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('a clone without links says that ctxd init is missing and that the own tools serve meanwhile', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'clone-'));
    try {
      const git = (...words: string[]) => execFileSync('git', words, { cwd: installation.project, stdio: 'pipe' });
      git('init', '-q');
      git('add', '-A');
      git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'all');
      git('clone', '-q', '.', clone);
      const { results, prompt } = await runClaude(claude, ['safe_bash --command ls'], { cwd: clone });
      expect(results[0]?.text).toMatch(/^Exit code 127\n.*safe_bash: command not found/);
      expect(prompt).toContain('ask for `ctxd init`, use your own tools meanwhile');
    } finally {
      rmSync(clone, { recursive: true, force: true });
      rmSync(join(installation.project, '.git'), { recursive: true });
    }
  });

  // Claude Code's sandbox needs both programs.
  const missing = ['bwrap', 'socat'].filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length > 0) console.warn(`SKIPPED: Claude Code's own sandbox (${missing.join(', ')} not installed)`);
  it.skipIf(missing.length > 0)('a call alone leaves its own sandbox, and beside other commands says how', async () => {
    const file = join(installation.project, '.claude/settings.local.json');
    const settings = readFileSync(file, 'utf8');
    const parsed = JSON.parse(settings);
    try {
      writeFileSync(file, JSON.stringify({ ...parsed, sandbox: { ...parsed.sandbox, enabled: true } }));
      const { results, log } = await runClaude(
        claude,
        [
          "safe_bash 'echo alone'",
          "safe_bash 'echo one' && safe_bash 'echo two'",
          `${installation.project}/.claude/bin/safe_bash 'echo absolute'`,
          "safe_bash 'echo piped' | head -5",
          'cd lib; safe_bash --command ls',
        ],
        where(),
      );
      expect(log).not.toContain('Sandbox disabled');
      const [alone, two, absolute, ...inside] = results.map(({ text }) => text);
      expect(alone).toContain('alone');
      expect(two).toContain('two');
      expect(absolute).toContain('absolute');
      expect(inside).toHaveLength(2);
      for (const text of inside)
        expect(text).toMatch(/own sandbox forbids unix sockets.*Run safe_bash alone: .*without a pipe/s);
      for (const text of inside) expect(text).not.toContain('excludedCommands');
    } finally {
      writeFileSync(file, settings);
    }
  });
});

describe.skipIf(clients === undefined)('in the real OpenCode', () => {
  it('the same calls work, a failure states its status, the time-out cancels a call, and a conversation is a session', async () => {
    const { project } = installation;
    const { results, prompt } = await runOpenCode(
      opencode,
      [
        "safe_bash 'echo plain'",
        `safe_bash 'echo "it'\\''s"'`,
        hereDocument(`awk 'BEGIN{"x"; print "it'"'"'s"}'`),
        "cd lib && safe_bash 'pwd'",
        { tool: 'bash', input: { command: "safe_bash 'pwd'", description: 'a step', workdir: join(project, 'lib') } },
        "safe_bash 'echo fails >&2; exit 3' && safe_bash 'touch lib/made'",
        {
          tool: 'bash',
          input: {
            command: "safe_bash 'touch lib/began; sleep 25; touch lib/outlived'",
            description: 'a step',
            timeout: 1_500,
          },
        },
        `until ${CTXD} ps --json | tr -d ' \\n' | grep -F '"items":[]'; do :; done; ls lib`,
        'echo "$CONTEXTD_SESSION_ID"',
      ],
      where(),
    );
    const texts = results.map(({ text }) => text.trim());
    const below = join(project, 'lib');
    expect(texts.slice(0, 5)).toEqual(['plain', "it's", "it's", below, below]);
    expect(texts[5]).toMatch(/^fails\n\[contextd exit 3\b/);
    expect(texts[6]).toContain('terminated command after exceeding timeout');
    expect(texts[7]).toMatch(/\nbegan$/);
    expect(texts[8]).toMatch(/^ses_/);
    expect(prompt).toContain('# contextd\n');
    expect(await isLive(texts[8])).toBe(false);
  }, 300_000);

  it('issue 19 part 8: what was done survives a compaction through the plugin', async () => {
    const fresh = await install({ warm: true });
    const at = { cwd: fresh.project, env: { CONTEXTD_HOME: fresh.home } };
    // The script begins again after the compaction, because its results are gone.
    const todo = { content: 'find out why', status: 'in_progress', priority: 'high', id: '1' };
    const work = [
      { tool: 'write', input: { filePath: join(fresh.project, 'note.md'), content: 'x' } },
      { tool: 'todowrite', input: { todos: [todo] } },
      "safe_bash 'echo needed by nobody >&2; exit 3'",
      'echo "$CONTEXTD_SESSION_ID"',
    ];
    try {
      const first = await runOpenCode(opencode, work, { ...at, prompt: 'Make it work, please.' });
      expect(first.prompt).not.toContain('Recorded facts of earlier work.');
      const session = first.results[3]?.text.trim() ?? '';
      const compacted = await runOpenCode(opencode, work, { ...at, firstTokens: 195_000, prompt: 'Go on.' });
      const [, id = ''] = /compacted\. `checkpoint_restore (cp_\w+)`/.exec(compacted.prompt) ?? [];
      expect(compacted.prompt).toContain(`\ncheckpoint ${id}, saved before a compaction`);
      // OpenCode puts what a person wrote on its command line in quotes.
      for (const text of [
        'files written: "note.md"',
        'asked "\\"Make it work, please.\\""',
        'to do "[>] find out why"',
      ])
        expect(compacted.prompt).toContain(text);
      expect(compacted.prompt).toMatch(/\nRecorded facts of earlier work\..*exit 3": exit 3/s);
      const next = compacted.results[3]?.text.trim() ?? '';
      const { stdout } = await fresh.run(CTXD, ['checkpoint', 'list', '--session', next, '--json']);
      expect(JSON.parse(stdout)).toMatchObject([{ id, cause: 'compaction' }]);
      const last = await runOpenCode(opencode, work.slice(3), at);
      expect(last.prompt).toContain(`This session is new. The one before, ${next}, did something last at`);
      expect(session).not.toBe(next);
    } finally {
      await fresh.remove();
    }
  }, 300_000);
});
