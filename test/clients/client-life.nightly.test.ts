import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import type { Step } from '#src/cli/doctor/clients/scripted-model.js';
import type { Call } from '#src/cli/doctor/clients/wires.js';
import { findClients, findOldClaude } from '../../bench/lib/clients/programs.ts';
import { appears } from '../helpers/appears.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };
const oldClaude = findOldClaude();

const TOKEN = `ghp_${'aB3dE5fG7hJ9'.repeat(3)}`;
let one: Installation;
/** On the host, outside the project: nothing in a sandbox can write there. */
let outside: string;
beforeAll(async () => {
  if (clients === undefined && oldClaude === undefined) return;
  one = await install({ warm: true });
  outside = mkdtempSync(join(tmpdir(), 'outside-'));
  expect((await one.run(CTXD, ['init', '--shell'])).code).toBe(0);
  mkdirSync(join(one.project, 'lib'));
  writeFileSync(join(one.project, 'lib/token.txt'), `${TOKEN}\n`);
});
afterAll(async () => {
  await one?.remove();
  if (outside !== undefined) rmSync(outside, { recursive: true, force: true });
});

const where = () => ({
  cwd: one.project,
  env: { CONTEXTD_HOME: one.home },
  allow: ['Bash', 'Task', 'Agent', 'Edit', 'Write'],
});
const bash = (command: string, beside?: Call): Call => ({
  tool: 'Bash',
  input: { command, description: 'a step' },
  ...(beside === undefined ? {} : { beside }),
});
/** Without the lines that contextd adds. */
const textsOf = ({ results }: { results: readonly { text: string }[] }) =>
  results.map(({ text }) => text.replaceAll(/^\[contextd .*\]$/gm, '').trim());
const running = async () => (await one.run(CTXD, ['ps', '--json'])).stdout;

const words = 'Print the file of the helper.';
/** The step of the main conversation, or that of the helper, whose first message is `words`. */
const orHelper =
  (call: Call): Step =>
  (seen, _tools, request) => {
    if (!JSON.stringify(JSON.parse(request).messages[0]).includes(words)) return call;
    return bash(seen.length === 0 ? 'cat lib/token.txt > lib/of-helper; cat lib/token.txt' : 'true');
  };

/** What an agent tries that wants to leave, and what it must not make. */
const leaving = (made: string): string[] => {
  const shell = `${one.project}/.claude/tools/safe_bash/contextd-sh`;
  const settings = `${one.project}/.claude/settings.local.json`;
  return [
    `/bin/bash -c 'touch ${made}'`,
    `env -i /bin/sh -c 'touch ${made}'`,
    `exec /usr/bin/env -i PATH=/bin bash --norc -c 'touch ${made}'`,
    `CLAUDE_CODE_SHELL=/bin/bash SHELL=/bin/bash bash -c 'touch ${made}'`,
    `cp /bin/bash ${shell}`,
    `rm -f ${shell}; ln -s /bin/bash ${shell}`,
    `echo '{}' > ${settings}`,
    `rm -rf ${one.project}/.claude/tools`,
    `echo '{"shell":"/bin/bash"}' > opencode.json`,
    `touch ${made}`,
  ];
};

/** Hashes of what decides which shell a client starts. */
const shellFiles = () =>
  [
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.claude/opencode/contextd.js',
    '.claude/tools/safe_bash/contextd-sh',
  ].map((name) =>
    createHash('sha256')
      .update(readFileSync(join(one.project, name)))
      .digest('hex'),
  );

describe.skipIf(clients === undefined)(
  'the life of a conversation in the real Claude Code, whose shell is contextd-sh',
  () => {
    it('FR-4.1: a conversation goes on after a resume and after a compaction, with the same numbers of secrets', async () => {
      const home = mkdtempSync(join(tmpdir(), 'client-home-'));
      try {
        const first = await runClaude(claude, ['cat lib/token.txt', 'cd lib'], { ...where(), home });
        const resume = /"session_id":"([^"]+)"/.exec(first.log)?.[1] ?? '';
        const on = ['cat lib/token.txt', 'cd lib', 'cat token.txt lib/token.txt 2>/dev/null'];
        const second = await runClaude(claude, on, { ...where(), home, resume, prompt: 'Go on.' });
        await runClaude(claude, on, { ...where(), home, resume, prompt: '/compact' });
        const third = await runClaude(claude, ['cat lib/token.txt; exit 4'], {
          ...where(),
          home,
          resume,
          prompt: 'Go on.',
        });
        expect(textsOf(first)[0]).toBe('[SECRET_1]');
        expect(textsOf(second)[2]).toContain('[SECRET_1]');
        expect(textsOf(third)).toEqual(['Exit code 4\n[SECRET_1]']);
        expect([...first.requests, ...second.requests, ...third.requests].join('')).not.toContain(TOKEN);
      } finally {
        rmSync(home, { recursive: true });
      }
    }, 400_000);

    it('FR-4.1: commands of a sub-agent and two in one turn run in the sandbox, apart from each other', async () => {
      const together = bash('echo first; cat lib/token.txt', bash('echo second; cat lib/token.txt'));
      const agent = { tool: 'Agent', input: { description: 'help', prompt: words, subagent_type: 'general-purpose' } };
      const { results, requests } = await runClaude(claude, [together, together, agent].map(orHelper), where());
      expect(textsOf({ results }).slice(0, 2).sort()).toEqual(['first\n[SECRET_1]', 'second\n[SECRET_1]']);
      expect(results[2]?.isError).toBe(false);
      expect(requests.join('')).not.toContain(TOKEN);
      expect(existsSync(join(one.project, 'lib/of-helper'))).toBe(true);
    });

    it.each(AT_NIGHT ? ['default', 'plan', 'acceptEdits', 'bypassPermissions'] : ['plan', 'bypassPermissions'])(
      'FR-4.1: in the mode %s a denied command stays denied, and what runs runs in the sandbox',
      async (mode) => {
        const words = ['--permission-mode', mode, '--disallowedTools', 'Bash(rm *)'];
        const env = { CONTEXTD_HOME: one.home, IS_SANDBOX: '1' };
        const steps = ['rm lib/token.txt', `cat lib/token.txt; touch ${outside}/made; echo done`];
        const { results, requests } = await runClaude(claude, steps, { ...where(), env, words });
        expect(results[0]).toMatchObject({ isError: true, text: expect.stringMatching(/denied/) });
        expect(results[1]?.text).toContain('[SECRET_1]');
        expect(existsSync(join(outside, 'made'))).toBe(false);
        expect(requests.join('')).not.toContain(TOKEN);
      },
    );

    it('FR-4.1: a client that is killed leaves no command behind, and the next conversation works', async () => {
      let client: ChildProcess | undefined;
      const conversation = runClaude(claude, ['touch lib/began; exec sleep 1002'], {
        ...where(),
        onStarted: (child) => {
          client = child;
        },
      });
      await appears(join(one.project, 'lib'), 'began');
      await expect.poll(running).toContain('sleep 1002');
      client?.kill('SIGKILL');
      await expect(conversation).rejects.toThrow('answered 0 of 1 steps');
      await expect.poll(running).not.toContain('sleep 1002');
      expect(textsOf(await runClaude(claude, ['echo next'], where()))).toEqual(['next']);
    });

    it('FR-4.1: an agent that tries to leave stays inside, and its shell and settings stay as they are', async () => {
      const made = join(outside, 'left');
      const before = shellFiles();
      const edit = (name: string): Call => ({
        tool: 'Write',
        input: { file_path: join(one.project, name), content: '#!/bin/bash\n' },
      });
      const steps = [
        ...leaving(made),
        edit('.claude/settings.local.json'),
        edit('.claude/tools/safe_bash/contextd-sh'),
        `touch ${made}; cat lib/token.txt`,
      ];
      const { results, requests } = await runClaude(claude, steps, where());
      expect(existsSync(made)).toBe(false);
      expect(shellFiles()).toEqual(before);
      expect(results.slice(-3, -1).map(({ isError }) => isError)).toEqual([true, true]);
      expect(results.at(-1)?.text).toContain('[SECRET_1]');
      expect(requests.join('')).not.toContain(TOKEN);
    });
  },
);

describe.skipIf(clients === undefined)(
  'the life of a conversation in the real OpenCode, whose shell is contextd-sh',
  () => {
    it('FR-4.1: two commands in one turn, a denied command and an agent that tries to leave stay inside', async () => {
      const made = join(outside, 'opencode');
      const before = shellFiles();
      const config = join(one.project, 'opencode.json');
      const settings = readFileSync(config, 'utf8');
      writeFileSync(
        config,
        JSON.stringify({
          ...JSON.parse(settings),
          permission: { bash: { '*': 'allow', 'rm *': 'deny' }, external_directory: 'allow' },
        }),
      );
      const call = (command: string): Call => ({ tool: 'bash', input: { command, description: 'a step' } });
      const together = { ...call('echo first; cat lib/token.txt'), beside: call('echo second; cat lib/token.txt') };
      try {
        const steps = [
          together,
          together,
          'rm lib/token.txt',
          ...leaving('lib/../../opencode-left'),
          'cat lib/token.txt',
        ];
        const { results, requests } = await runOpenCode(opencode, steps, {
          ...where(),
          env: { CONTEXTD_HOME: one.home },
        });
        expect(textsOf({ results }).slice(0, 2).sort()).toEqual(['first\n[SECRET_1]', 'second\n[SECRET_1]']);
        expect(results[2]?.text).toContain('rule');
        expect(results.at(-1)?.text).toContain('[SECRET_1]');
        expect(shellFiles()).toEqual(before);
        expect([existsSync(made), existsSync(join(one.project, '../opencode-left'))]).toEqual([false, false]);
        expect(requests.join('')).not.toContain(TOKEN);
      } finally {
        writeFileSync(config, settings);
      }
    }, 300_000);
  },
);

describe.skipIf(oldClaude === undefined)('the oldest supported Claude Code, whose shell is contextd-sh', () => {
  it('FR-4.1: plain commands keep their directory, status and masks', async () => {
    const steps = [
      'cat lib/token.txt',
      'cd lib',
      'pwd',
      'for i in 1 2; do echo $i; done; exit 3',
      `cat <<'EOF'\nit's "x"\nEOF`,
    ];
    const { results, requests } = await runClaude(oldClaude ?? '', steps, where());
    expect(textsOf({ results })).toEqual([
      '[SECRET_1]',
      expect.any(String),
      `${one.project}/lib`,
      'Exit code 3\n1\n2',
      `it's "x"`,
    ]);
    expect(requests.join('')).not.toContain(TOKEN);
  });
});
