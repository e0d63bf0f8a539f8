import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CONTEXTD,
  CTXD,
  type Finished,
  type Installation,
  install,
  isAlive,
  processesNamed,
} from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const LINK = '.claude/tools/safe_bash/safe_bash';
/** Calls that start a daemon: a hundred of them start one in `integration/proxy-start.nightly.test.ts`. */
const FIRST_CALLS = AT_NIGHT ? 100 : 30;
const CALLS = AT_NIGHT ? 200 : 64;
let at: Installation;
/** With a daemon whose socket cannot be seen, while `blind` tries for 20 seconds to start a second one. */
let hidden: Installation;
let blind: Promise<Finished>;
let pidOfHidden: number;
let hiddenBefore: ReturnType<typeof stateOfHidden>;
beforeAll(async () => {
  [at, hidden] = await Promise.all([install(), install()]);
  hiddenBefore = stateOfHidden();
  pidOfHidden = (await hidden.status()).pid;
  renameSync(join(hidden.home, 'run/contextd.sock'), join(hidden.home, 'run/away'));
  rmSync(join(hidden.home, 'state/certs/cli.pem'));
  blind = hidden.run(CONTEXTD, ['serve', '--foreground']);
});
afterAll(() => Promise.all([at.remove(), hidden.remove()]));

/** What a second daemon must not change. */
function stateOfHidden() {
  const certificate = readFileSync(join(hidden.home, 'state/certs/server.pem'), 'utf8');
  return { certificate, pipes: readdirSync(join(hidden.home, 'data/sandbox')).sort() };
}

/** Resolves when `file` exists: the command of a call has begun. */
async function begun(file: string): Promise<void> {
  const exists = (): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;
  await new Promise<void>((resolve) => {
    const watcher = watch(at.project, () => {
      if (!exists()) return;
      watcher.close();
      resolve();
    });
    if (exists()) {
      watcher.close();
      resolve();
    }
  });
}

describe('the daemon', () => {
  it('is started exactly once by many simultaneous first calls', async () => {
    await at.run(CTXD, ['server', 'stop']);
    const starts = (): number =>
      readFileSync(join(at.home, 'state/daemon.log'), 'utf8').split('"daemon.ready"').length - 1;
    const before = starts();
    const answers = await Promise.all(
      Array.from({ length: FIRST_CALLS }, (_, i) =>
        at.call('safe_bash', { command: `echo ${i}`, timeout_ms: 120_000 }),
      ),
    );
    expect(answers.map(({ stdout }) => JSON.parse(stdout).data.stdout)).toEqual(answers.map((_, i) => `${i}\n`));
    expect(starts() - before).toBe(1);
  }, 120_000);

  it('SEC-3.3 has a socket with mode 0600 in a directory with mode 0700, and only private files in its home', async () => {
    expect(statSync(join(at.home, 'run/contextd.sock')).mode & 0o777).toBe(0o600);
    expect(statSync(join(at.home, 'run')).mode & 0o777).toBe(0o700);
    for (const dir of ['config', 'data', 'state']) expect(statSync(join(at.home, dir)).mode & 0o077).toBe(0);
    for (const file of ['state/contextd.db', 'state/daemon.log'])
      expect(statSync(join(at.home, file)).mode & 0o777).toBe(0o600);
  });

  it('NFR-1.4 answers many calls, sixteen at a time, each with its own output', async () => {
    const queue = Array.from({ length: CALLS }, (_, i) => i);
    const wrong: number[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
          const answer = await at.ask('safe_bash', { command: `echo call ${i}` });
          if (answer.data.stdout !== `call ${i}\n`) wrong.push(i);
        }
      }),
    );
    expect(wrong).toEqual([]);
  }, 120_000);

  it('NFR-2.3 lets running calls finish when it is stopped', async () => {
    const file = join(at.project, 'in-flight');
    const call = at.ask('safe_bash', { command: `touch ${file}; sleep 1; echo finished` });
    await begun(file);
    const stop = await at.run(CTXD, ['server', 'stop']);
    expect(stop.code).toBe(0);
    expect((await call).data.stdout).toBe('finished\n');
    expect(await at.ask('safe_bash', { command: 'echo back' })).toMatchObject({ data: { stdout: 'back\n' } });
  });

  it('NFR-2.3 is replaced after SIGKILL by the lost call, which says what it changed and how to undo it, and is not repeated', async () => {
    const file = join(at.project, 'killed');
    const call = at.call('safe_bash', { command: `echo once >> ${file}; sleep 30` });
    await begun(file);
    const { pid } = await at.status();
    process.kill(pid, 'SIGKILL');
    const lost = JSON.parse((await call).stdout);
    const { error_code, details, remediation } = lost.data;
    expect({ error_code, details }).toEqual({
      error_code: 'INTERRUPTED',
      details: { stopped_by: 'crash', files_changed: 1, undo: expect.stringMatching(/^undo_[0-9a-z]{8}$/) },
    });
    expect(lost.error).toContain('the daemon ended before safe_bash had answered');
    expect(lost.error).toContain('It may have changed 1 file of the project');
    expect(remediation).toContain(`\`ctxd undo ${details.undo}\``);
    expect(await at.ask('safe_bash', { command: 'echo alive' })).toMatchObject({ data: { stdout: 'alive\n' } });
    expect(readFileSync(file, 'utf8')).toBe('once\n');
    expect(await processesNamed(`echo once >> ${file}`)).toEqual([]);
    expect((await at.run(CTXD, ['undo', details.undo, '--yes'])).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it('is not disturbed by a second one, which is refused even if it cannot see the socket', async () => {
    expect((await blind).code).not.toBe(0);
    expect(stateOfHidden()).toEqual(hiddenBefore);
    renameSync(join(hidden.home, 'run/away'), join(hidden.home, 'run/contextd.sock'));
    const echo = (word: string) => hidden.ask('safe_bash', { command: `echo ${word}` });
    expect(await echo('unharmed')).toMatchObject({ data: { stdout: 'unharmed\n' } });
    process.kill(pidOfHidden, 'SIGTERM');
    expect(await echo('next')).toMatchObject({ data: { stdout: 'next\n' } });
    await secondIsTold();
  });

  async function secondIsTold(): Promise<void> {
    const { pid } = await hidden.status();
    const second = await hidden.run(CONTEXTD, ['serve', '--foreground']);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toContain('ctxd server stop');
    expect(isAlive(pid)).toBe(true);
  }
});

describe('a call', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'ends with its proxy (%s), and so does everything it started',
    async (signal) => {
      const file = join(at.project, `cancel-${signal}`);
      const marker = `contextd-test-${process.pid}-${signal}`;
      const proxy = spawn(
        LINK,
        [JSON.stringify({ command: `touch ${file}; (exec -a ${marker} sleep 60) & exec -a ${marker} sleep 60` })],
        {
          cwd: at.project,
          env: at.environment,
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      const out: Buffer[] = [];
      proxy.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      const closed = new Promise<number | null>((resolve) => proxy.on('close', resolve));
      await begun(file);
      proxy.kill(signal);
      const code = await closed;
      if (signal !== 'SIGKILL') {
        expect(code).toBe(130);
        expect(JSON.parse(Buffer.concat(out).toString()).data.error_code).toBe('CANCELLED');
      }
      // Long before they end by themselves.
      await expect.poll(() => processesNamed(marker)).toEqual([]);
    },
  );

  it('NFR-2.2 ends at its deadline, and its output is kept', async () => {
    const answer = await at.call('safe_bash', { command: 'echo before; sleep 60', timeout_ms: 5_000 });
    const envelope = JSON.parse(answer.stdout);
    expect(envelope).toMatchObject({
      success: false,
      data: { error_code: 'TIMEOUT', stdout: 'before\n', ended_by: 'timeout' },
    });
    expect(answer.code).toBe(124);
  });

  it('reports in a dry run what would be allowed, and runs nothing', async () => {
    const answer = await at.ask('safe_bash', { command: 'touch dry', dry_run: true });
    expect(answer).toMatchObject({ success: true, data: { dry_run: true, allowed: true } });
    expect(statSync(join(at.project, 'dry'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is not affected by files in its working directory', async () => {
    const hostile = join(at.project, 'hostile');
    mkdirSync(hostile, { recursive: true });
    writeFileSync(
      join(hostile, 'preload.js'),
      `require('fs').writeFileSync(${JSON.stringify(join(hostile, 'ran'))}, '')`,
    );
    writeFileSync(join(hostile, 'bunfig.toml'), 'preload = ["./preload.js"]\n');
    writeFileSync(join(hostile, '.env'), 'CONTEXTD_HOME=/nonexistent/home\n');
    const done = await at.run(join(at.project, LINK), ['{"command":"echo mine"}'], { cwd: hostile });
    expect(JSON.parse(done.stdout).data.stdout).toBe('mine\n');
    expect(statSync(join(hostile, 'ran'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('CE-3.1 CE-3.2 FR-2.5 prints the tool’s documents on demand, without a daemon', async () => {
    await at.run(CTXD, ['server', 'stop']);
    const help = await at.run(LINK, ['--help']);
    const extended = await at.run(LINK, ['--help', '--extended']);
    const schema = await at.run(LINK, ['--schema']);
    expect(help.stdout).toBe(readFileSync(join(at.project, '.claude/tools/safe_bash/TOOL.md'), 'utf8'));
    expect(extended.stdout).toBe(readFileSync(join(at.project, '.claude/tools/safe_bash/TOOL_EXTENDED.md'), 'utf8'));
    expect(JSON.parse(schema.stdout)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    expect((await at.run(CTXD, ['server', 'status', '--json'])).code).toBe(69);
  });
});
