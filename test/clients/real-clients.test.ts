import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClients } from '../helpers/clients/programs.ts';
import { runClaude, runOpenCode } from '../helpers/clients/run-client.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };

let installation: Installation;
beforeAll(async () => {
  if (clients === undefined) return;
  installation = await install();
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
    'safe_bash --command "$(touch made)"',
    'safe_bash --command "`touch made`"',
    'safe_bash --command `touch made`',
    'safe_bash --command <(touch made)',
    'safe_bash --command ls > >(touch made)',
    'safe_bash --command ls > ~/.bashrc',
    'safe_bash --command ls >> made',
    'safe_bash --command ls &> made',
    'safe_bash --command ls 3> made',
    'safe_bash --command ls; touch made',
    'safe_bash --command ls && touch made',
    'safe_bash --command ls || touch made',
    'safe_bash --command ls | tee made',
    'safe_bash --command ls | sh',
    'safe_bash --command ls | xargs touch made',
    'safe_bash --command ls & touch made',
    'safe_bash --command ls\ntouch made',
    "safe_bash --command 'a\\u0027; touch made; echo \\u0027'",
    'LD_PRELOAD=/tmp/x.so safe_bash --command ls',
    'PATH=/tmp/x safe_bash --command ls',
    'export PATH=/tmp/x:/usr/bin:/bin; safe_bash --command ls',
    'safe_bash() { touch made; }; safe_bash --command ls',
    'alias safe_bash=touch; safe_bash made',
    'hash -p /usr/bin/touch safe_bash; safe_bash made',
    `safe_bash --command "\${made:-$(touch made)}"`,
    'safe_bash --command $((made[$(touch made)]))',
    'safe_bash --command "$(cat <<EOF\n$(touch made)\nEOF\n)"',
    'safe_bash --command "$(cat <<\'EOF\'\nls\nEOF\ntouch made\n)"',
    'safe_bash --command "$(cat <<\'EOF\' > made\nls\nEOF\n)"',
    'safe_bash --command "$(cat <<\'EOF\' | sh\ntouch made\nEOF\n)"',
    'safe_bash --command "$(sh <<\'EOF\'\ntouch made\nEOF\n)"',
    'safe_bash --command "$(cat /etc/hostname)"',
    'safe_bashful --command ls',
    'safe_bash/../x --command ls',
    'cd .claude/bin && ./safe_bash --command ls',
  ];

  it('a person is asked before the client itself would run or write something beside the call', async () => {
    const home = mkdtempSync(join(tmpdir(), 'client-home-'));
    const before = readdirSync(installation.project);
    const { results } = await runClaude(claude, ASKED, { ...where(), home });
    expect(ASKED.filter((_, index) => results[index]?.isError !== true)).toEqual([]);
    expect(ASKED.filter((_, index) => /^Exit code/.test(results[index]?.text ?? ''))).toEqual([]);
    expect(readdirSync(installation.project)).toEqual(before);
    expect(existsSync(join(home, '.bashrc'))).toBe(false);
  });

  it('the tools are found by name, also after cd, and every taught way of quoting arrives whole and asks nothing', async () => {
    const quoted = `it's "so" $HOME \`x\` \\n {"a":1} )`;
    const { results, prompt } = await runClaude(
      claude,
      [
        "safe_bash --command 'echo plain'",
        'safe_bash --command "echo \\"two\\" \\$((1+1))"',
        `safe_bash --command 'echo "it'\\''s"'`,
        hereDocument(`printf %s "$(printf 1)"; echo "it's"`),
        "cd lib && safe_bash --command 'echo below'",
        "safe_bash --command 'echo again'",
        `${installation.project}/.claude/bin/safe_bash --command 'echo absolute'`,
        "safe_bash --command 'echo one' && safe_bash --command 'echo two' | head -1",
        "timeout 60 safe_bash --command 'echo limited' 2>&1",
        `safe_bash --command 'cat' --stdin '${quoted.replaceAll("'", "'\\''")}'`,
      ],
      where(),
    );
    const printed = ['plain', 'two 2', "it's", "1it's", 'below', 'again', 'absolute', 'two', 'limited', 'it\'s \\"so'];
    for (const [index, text] of printed.entries()) expect(results[index]?.text).toContain(text);
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(prompt).toContain('# contextd\n');
  });

  it('a call that its time-out moves to the background goes on, and the session ends with the conversation', async () => {
    const { results, log } = await runClaude(
      claude,
      [
        {
          tool: 'Bash',
          input: {
            command: "safe_bash --command 'until [ -e lib/go ]; do sleep 0.1; done; echo went on > lib/result'",
            description: 'a step',
            timeout: 1_000,
          },
        },
        "safe_bash --command 'touch lib/go; until [ -s lib/result ]; do sleep 0.1; done; cat lib/result'",
      ],
      where(),
    );
    expect(results[0]?.text).toContain('background');
    expect(results[1]?.text).toContain('went on');
    expect(await isLive(/"session_id":"([^"]+)"/.exec(log)?.[1])).toBe(false);
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
      expect(prompt).toContain('ask for `ctxd init` and use your own tools meanwhile');
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
          "safe_bash --command 'echo alone'",
          "safe_bash --command 'echo one' && safe_bash --command 'echo two'",
          `${installation.project}/.claude/bin/safe_bash --command 'echo absolute'`,
          "safe_bash --command 'echo piped' | head -5",
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
  it('the tools are found by name with the same quotes, its time-out cancels a call, and a conversation has a session', async () => {
    const { results, prompt } = await runOpenCode(
      opencode,
      [
        "safe_bash --command 'echo plain'",
        `safe_bash --command 'echo "it'\\''s"'`,
        hereDocument(`printf %s "$(printf 1)"; awk 'BEGIN{"x"; print "it'"'"'s"}'`),
        "cd lib && safe_bash --command 'echo below'",
        {
          tool: 'bash',
          input: {
            command: "safe_bash --command 'touch lib/began; sleep 25; touch lib/outlived'",
            description: 'a step',
            timeout: 1_500,
          },
        },
        `until ${CTXD} ps --json | tr -d ' \\n' | grep -F '"items":[]'; do :; done; ls lib`,
        'echo "$CONTEXTD_SESSION_ID"',
      ],
      where(),
    );
    const printed = ['plain', "it's", "1it's", 'below', 'terminated command after exceeding timeout', 'began', 'ses_'];
    for (const [index, text] of printed.entries()) expect(results[index]?.text).toContain(text);
    expect(results[5]?.text).not.toContain('outlived');
    expect(prompt).toContain('# contextd\n');
    expect(await isLive(results[6]?.text.trim())).toBe(false);
  }, 120_000);
});
