import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

let at: ComposedDaemon;
beforeEach(async () => {
  at = await composeDaemon({});
});
afterEach(() => at.remove());

it('NFR-2.3: the end of a job that was left to the next daemon is recorded and stored there only, also if the spawner ends', async () => {
  const job = await at.call('safe_bash', { command: 'echo printed; sleep 600', background: true });
  expect(job.data).toMatchObject({ job: 1, state: 'running' });
  const { heritage } = at.sandbox;
  if (heritage === undefined) throw new Error('no job goes on here');
  const ofJobs = async () => (await at.auditLog.tail(100)).filter(({ request_id }) => request_id?.startsWith('job_'));
  const before = await ofJobs();
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  at.jobs.running()[0]?.ended.then(end, end);
  const artifacts = async () => (await at.database.read('SELECT count(*) AS count FROM artifacts'))[0]?.count;
  const stored = await artifacts();
  await heritage.leave({ send() {} }, async () => {
    const { jobs } = await at.jobs.leave();
    return jobs.flatMap(({ run }) => run ?? []);
  });
  heritage.lost();
  // Everything that can happen without a timer or a thread has happened then.
  await setImmediate();
  expect(hasEnded).toBe(false);
  expect(await ofJobs()).toEqual(before);
  expect(await artifacts()).toBe(stored);
});
