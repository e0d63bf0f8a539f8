import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const DAY_MS = 86_400_000;
const DAEMON = join(import.meta.dirname, '../fixtures/daemon-at-another-time.ts');
let at: Installation;
let daemon: ChildProcess;
beforeEach(async () => {
  at = await install({ init: false });
});
afterEach(async () => {
  await ctxd('server', 'stop');
  daemon.kill('SIGKILL');
  await at.remove();
});

const ctxd = (...args: string[]) => at.run(CTXD, args);
const echo = (word: string) => at.ask('safe_bash', { command: `echo ${word}` });
const authority = (): string => readFileSync(join(at.home, 'state/certs/ca.pem'), 'utf8');

/** The clock of the daemon is ahead of the machine's by this number of days from now on. */
const setClock = (days: number): void => writeFileSync(join(at.home, 'clock'), String(days * DAY_MS));

async function startDaemon(days: number, pace: 'prompt' | 'usual'): Promise<void> {
  setClock(days);
  daemon = spawn(process.execPath, ['--expose-gc', DAEMON, join(at.home, 'clock'), pace], {
    env: at.environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await expect.poll(() => existsSync(join(at.home, 'run/contextd.sock'))).toBe(true);
}

/** Starts a call that runs until `release` is called, and waits until it runs. */
async function heldCall() {
  const answer = at.ask('safe_bash', { command: 'touch begun; until [ -e go ]; do sleep 0.05; done; echo held' });
  const begun = () => existsSync(join(at.project, 'begun'));
  await expect.poll(begun).toBe(true);
  return { answer, release: () => writeFileSync(join(at.project, 'go'), '') };
}

describe('the clock of a running daemon', () => {
  it.each([
    ['jumps to the last month of its certificates', -710, 0],
    ['goes back by three days, to before its certificates', 0, -3],
  ])(
    'SEC-3.1 SEC-5.4 NFR-2.3 %s: they are renewed without a restart, running and new calls are answered, and the log verifies',
    async (_, before, after) => {
      await startDaemon(before, 'prompt');
      expect((await ctxd('init')).code).toBe(0);
      const first = authority();
      expect((await echo('one')).data.stdout).toBe('one\n');
      const { answer, release } = await heldCall();
      setClock(after);
      await expect.poll(authority).not.toBe(first);
      release();
      expect((await answer).data.stdout).toBe('held\n');
      expect((await echo('two')).data.stdout).toBe('two\n');
      expect((await at.status()).pid).toBe(daemon.pid);
      expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
      const { stdout } = await ctxd('audit', 'tail', '--json');
      const commands = [...stdout.matchAll(/"command":"(echo \w+|touch begun)/g)].map(([, command]) => command);
      expect(commands).toEqual(['echo one', 'touch begun', 'echo two']);
    },
  );

  it('SEC-3.1 was wrong when it made its certificates: clients say that, and `ctxd server restart` makes new ones', async () => {
    await startDaemon(3, 'usual');
    const status = await ctxd('server', 'status');
    expect(status.stderr).toContain('are not valid at the time that the clock of this machine shows');
    expect(status.stderr).toContain('`ctxd server restart` does at once');
    const start = await ctxd('server', 'start');
    expect(start.stderr).toContain('its certificate is not valid at the time of this machine');
    expect(start.stderr).toContain('`ctxd server restart` replaces it');
    expect((await ctxd('doctor')).stdout).toMatch(/fail {2}certificates: not valid before .*\n.*`ctxd server restart`/);
    expect((await ctxd('server', 'restart')).code).toBe(0);
    expect((await ctxd('init')).code).toBe(0);
    expect((await echo('after')).data.stdout).toBe('after\n');
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
  });
});
