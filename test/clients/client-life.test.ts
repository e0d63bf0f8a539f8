import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude } from '#src/cli/doctor/clients/run-client.js';
import { findClients, findOldClaude } from '../../bench/lib/clients/programs.ts';
import { appears } from '../helpers/appears.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const clients = findClients();
const { claude } = clients ?? { claude: '' };
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
  allow: ['Bash'],
});
/** Without the lines that contextd adds. */
const textsOf = ({ results }: { results: readonly { text: string }[] }) =>
  results.map(({ text }) => text.replaceAll(/^\[contextd .*\]$/gm, '').trim());
const running = async () => (await one.run(CTXD, ['ps', '--json'])).stdout;

describe.skipIf(clients === undefined)(
  'the life of a conversation in the real Claude Code, whose shell is contextd-sh',
  () => {
    it.each(['default', 'plan'])(
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
