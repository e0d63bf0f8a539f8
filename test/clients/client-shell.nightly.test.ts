import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import type { Step } from '#src/cli/doctor/clients/scripted-model.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };

let one: Installation;
beforeAll(async () => {
  if (clients === undefined) return;
  one = await install({ warm: true });
  expect((await one.run(CTXD, ['init', '--shell'])).code).toBe(0);
  mkdirSync(join(one.project, 'lib'));
  writeFileSync(join(one.project, 'lib/a.txt'), 'alpha\nbeta\n');
});
afterAll(() => one?.remove());

/** Everything is allowed, so that only the shell is under test. */
const where = () => ({ cwd: one.project, env: { CONTEXTD_HOME: one.home }, allow: ['Bash', 'Read'] });

/** A plain command and what the model sees of it, as from a shell of the client's own. */
type Task = readonly [command: string, seen: string | RegExp];

const TASKS: readonly Task[] = [
  ['cat lib/a.txt', 'alpha\nbeta'],
  ['grep -n beta lib/a.txt | cut -d: -f1', '2'],
  [`echo "it's" 'a "b"' $((1+1))`, `it's a "b" 2`],
  ['cat <<EOF\nhello $((2*2))\nEOF', 'hello 4'],
  ['for i in 1 2; do echo out$i; echo err$i >&2; done', 'out1\nerr1\nout2\nerr2'],
  ['printf one > lib/b.txt && cat lib/b.txt', 'one'],
  ['mkdir -p lib/deep && (cd lib/deep && pwd | sed "s#.*/lib#lib#")', 'lib/deep'],
  ['X=1; export X; sh -c "echo $X"', '1'],
  ['git init -q . && git status --short | head -1 | cut -c1-2', '??'],
  ['/bin/bash -c "echo inside"; ls /root 2>&1 | grep -c "No such file"', 'inside\n1'],
];

describe.skipIf(clients === undefined)('issue 35: in the real Claude Code, whose shell is contextd-sh', () => {
  it('plain commands do what they do in a shell of its own, and the directory is kept', async () => {
    const steps = [...TASKS.map(([command]) => command), 'cd lib/deep', 'cd ..', 'pwd', 'cat a.txt; exit 3'];
    const { results } = await runClaude(claude, steps, where());
    for (const [index, [command, seen]] of TASKS.entries()) {
      if (typeof seen === 'string') expect(results[index]?.text, command).toBe(seen);
      else expect(results[index]?.text, command).toMatch(seen);
    }
    const [, , pwd, failed] = results.slice(TASKS.length);
    expect(pwd?.text).toBe(`${one.project}/lib`);
    expect(failed).toEqual({ text: 'Exit code 3\nalpha\nbeta', isError: true });
  });

  it('FR-4.1: a server behind other commands runs on for the next command, which starts where the text ended', async () => {
    const serve = `node -e 'require("node:http").createServer((_, to) => to.end("up")).listen(18107, "127.0.0.1")'`;
    const { results } = await runClaude(
      claude,
      [
        `cd lib\necho begun\n${serve} > server.log 2>&1 &`,
        'until curl -s 127.0.0.1:18107; do sleep 0.1; done; echo; pwd',
        "safe_jobs 'stop 1'",
      ],
      where(),
    );
    expect(results[0]?.text).toMatch(/^begun\n\[contextd job 1 is running: .*\]$/);
    expect(results[1]?.text).toBe(`up\n${one.project}/lib`);
    expect(results[2]?.isError).toBe(false);
  });

  it('its rules still hold on the words of the model, and a command in the background can be read and ends with it', async () => {
    const bash = (command: string, more: object = {}): Step => ({
      tool: 'Bash',
      input: { command, description: 'a step', ...more },
    });
    const { results } = await runClaude(
      claude,
      [
        bash('echo ready; until [ -e lib/go ]; do sleep 0.1; done; echo went on', { run_in_background: true }),
        'touch lib/go; until grep -q "went on" lib/went 2>/dev/null || [ -e lib/go ]; do sleep 0.1; done; echo done',
        'ctxd network allow example.com',
      ],
      where(),
    );
    expect(results[0]?.text).toContain('running in background');
    expect(results[1]?.text).toBe('done');
    expect(results[2]).toMatchObject({ isError: true, text: expect.stringContaining('denied') });
  });
});

describe.skipIf(clients === undefined)('issue 35: in the real OpenCode, whose shell is contextd-sh', () => {
  it('plain commands do what they do in a shell of its own, and a time-out ends them', async () => {
    rmSync(join(one.project, '.git'), { recursive: true, force: true });
    const late = { command: 'echo begun; sleep 600', description: 'a step', timeout: 2_000 };
    const steps = [...TASKS.map(([command]) => command), { tool: 'bash', input: late }];
    const { results } = await runOpenCode(opencode, steps, where());
    for (const [index, [command, seen]] of TASKS.entries()) expect(results[index]?.text.trimEnd(), command).toBe(seen);
    expect(results.at(-1)?.text).toContain('exceeding timeout');
    await expect.poll(async () => (await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('sleep 600');
  }, 300_000);
});

describe.skipIf(clients === undefined)('issue 35: ctxd doctor --clients', () => {
  it('proves that a canary reaches neither model, and finds the way by which it does without the shell', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'clients-'));
    const env = { PATH: `${programs}:${process.env.PATH}` };
    symlinkSync(claude, join(programs, 'claude'));
    symlinkSync(opencode, join(programs, 'opencode'));
    const kept = async () =>
      Promise.all(
        [
          ['session', 'list'],
          ['undo', '--list'],
        ].map((words) => one.runProcess(CTXD, [...words, '--json'])),
      );
    execFileSync('git', ['init', '-q', one.project]);
    const repository = () => readdirSync(join(one.project, '.git'), { recursive: true }).sort();
    const before = [await kept(), repository()];
    const prove = async () => {
      const { stdout } = await one.runProcess(CTXD, ['doctor', '--clients', '--yes', '--json'], { env });
      return JSON.parse(stdout).checks as { name: string; status: string; detail: string }[];
    };
    try {
      const [inClaude, inOpenCode] = await prove();
      expect(inClaude).toMatchObject({ name: 'canary in Claude Code', status: 'ok' });
      expect(inOpenCode?.detail).toMatch(/^the model did not see the secret by bash, read,/);
      const hasRipgrep = spawnSync('which', ['rg']).status === 0;
      expect(inOpenCode).toMatchObject(
        hasRipgrep
          ? { status: 'ok', detail: expect.stringContaining('bash, read, grep, edit') }
          : { status: 'warn', detail: expect.stringMatching(/; grep could not be tried, .* `rg` is not on PATH$/) },
      );
      expect([await kept(), repository()]).toEqual(before);
      expect((await one.runProcess(CTXD, ['init', '--no-shell'])).code).toBe(0);
      // Without the shell, one client shows that the doctor finds the way.
      rmSync(join(programs, 'opencode'));
      const [without] = await prove();
      expect(without).toMatchObject({ status: 'fail', detail: expect.stringContaining('a command that fails') });
    } finally {
      rmSync(programs, { recursive: true, force: true });
      await one.runProcess(CTXD, ['init', '--shell']);
    }
  }, 300_000);
});
