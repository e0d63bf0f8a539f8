import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';

/** Longer than the test: until then the state does not move, because a call waits for a person. */
const DRAIN_MS = '300000';

let at: Installation;
beforeAll(async () => {
  at = await install({ settings: { 'server.drain_ms': DRAIN_MS } });
});
afterAll(() => at.remove());

/** The pid in the last line of the log with this event. */
function pidOf(event: string): number | null {
  const lines = readFileSync(join(at.home, 'state/daemon.log'), 'utf8').split('\n');
  const line = lines.findLast((one) => one.includes(`"${event}"`));
  return line === undefined ? null : Number(JSON.parse(line).pid);
}

it('NFR-2.3: goes on with its calls at once if the new daemon is killed before the state moves', async () => {
  const { pid } = await at.status();
  expect(await at.run(CTXD, ['approve', 'rule', 'add', 'safe_bash', '--when', '^touch'])).toMatchObject({ code: 0 });
  const call = at.ask('safe_bash', { command: 'touch asked' });
  const waiting = async (): Promise<{ id: string }[]> =>
    JSON.parse((await at.run(CTXD, ['approve', '--json'])).stdout).items;
  await expect.poll(async () => (await waiting()).length).toBe(1);

  const restarted = at.runProcess(CTXD, ['server', 'restart']);
  await expect.poll(() => pidOf('daemon.successor_ready')).not.toBeNull();
  process.kill(pidOf('daemon.successor_ready') ?? 0, 'SIGKILL');
  const { code, stderr } = await restarted;
  expect({ code, stderr }).toMatchObject({ code: 69 });
  expect(stderr).toContain('the old one goes on: it ended before it took over');

  expect([(await at.status()).pid, isAlive(pid)]).toEqual([pid, true]);
  const [question] = await waiting();
  await at.run(CTXD, ['approve', question?.id ?? '', 'once']);
  expect(await call).toMatchObject({ success: true });
});
