import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';

/** Longer than the test: until then the state does not move, because a call waits for a person. */
const DRAIN_MS = '300000';

let at: Installation;
beforeAll(async () => {
  at = await install({ settings: { 'server.drain_ms': DRAIN_MS } });
  await at.ask('safe_bash', { command: 'true' });
  expect(await at.run(CTXD, ['approve', 'rule', 'add', 'safe_bash', '--when', '^touch'])).toMatchObject({ code: 0 });
});
afterAll(() => at.remove());

/** The pid in the last line of the log with this event. */
function pidOf(event: string): number | null {
  const lines = readFileSync(join(at.home, 'state/daemon.log'), 'utf8').split('\n');
  const line = lines.findLast((one) => one.includes(`"${event}"`));
  return line === undefined ? null : Number(JSON.parse(line).pid);
}

/** A call that waits for a person, so that the restart waits too, and the pid of the new daemon. */
async function waitingRestart(name: string) {
  const call = at.ask('safe_bash', { command: `touch ${name}` });
  const waiting = async (): Promise<{ id: string }[]> =>
    JSON.parse((await at.run(CTXD, ['approve', '--json'])).stdout).items;
  await expect.poll(async () => (await waiting()).length).toBe(1);
  const earlier = pidOf('daemon.successor_ready');
  const restarted = at.runProcess(CTXD, ['server', 'restart']);
  await expect.poll(() => pidOf('daemon.successor_ready') ?? earlier).not.toBe(earlier);
  const allow = async (): Promise<void> => {
    const [question] = await waiting();
    await at.run(CTXD, ['approve', question?.id ?? '', 'once']);
  };
  return { call, restarted, next: pidOf('daemon.successor_ready') ?? 0, allow };
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'NFR-2.3: goes on with its calls at once if the new daemon gets %s before the state moves',
  async (signal) => {
    const { pid } = await at.status();
    const { call, restarted, next, allow } = await waitingRestart(signal);
    process.kill(next, signal);
    const { code, stderr } = await restarted;
    expect({ code, stderr }).toMatchObject({ code: 69 });
    expect(stderr).toContain('the old one goes on: it ended before it took over');
    expect([(await at.status()).pid, isAlive(pid)]).toEqual([pid, true]);
    await expect.poll(() => isAlive(next)).toBe(false);
    await allow();
    expect(await call).toMatchObject({ success: true });
  },
);

it('NFR-2.3: gives the restart up at once if it gets SIGTERM before the state moves, and answers its calls', async () => {
  const { pid } = await at.status();
  const { call, restarted, next, allow } = await waitingRestart('stopped');
  process.kill(pid, 'SIGTERM');
  const { code, stderr } = await restarted;
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toContain('the daemon is being stopped');
  await expect.poll(() => isAlive(next)).toBe(false);
  expect(isAlive(pid)).toBe(true);
  await allow();
  expect(await call).toMatchObject({ success: true });
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  expect(existsSync(join(at.home, 'run/contextd.sock'))).toBe(false);
});
