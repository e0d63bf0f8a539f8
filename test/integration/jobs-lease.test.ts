import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAuditLog } from '#src/audit/log.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { Jobs } from '#src/features/jobs/jobs.js';
import { createConsents } from '#src/stores/consents.js';
import { createJournal } from '#src/stores/journal.js';
import { createLiveSessions } from '#src/stores/live-sessions.js';
import { createOpenJobs } from '#src/stores/open-jobs.js';
import { createProjectStore } from '#src/stores/projects.js';
import { openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { makeTempDir, openTestArtifacts, SESSION_A } from '../unit/stores/open-stores.ts';

const [who = 'ordinary user'] = whoCanRun();
const MINUTE_MS = 60_000;

test('a job that nobody looks at ends with its lease, and a look renews the lease', async () => {
  const { jobs, begin, clock } = await openJobs();
  const [forgotten, watched] = [await begin(), await begin()];
  clock.nowMs += 29 * MINUTE_MS;
  await jobs.endLeases();
  expect(jobs.running()).toEqual([forgotten, watched]);
  jobs.find(SESSION_A, watched.spec.number);
  clock.nowMs += MINUTE_MS;
  await jobs.endLeases();
  expect(jobs.running()).toEqual([watched]);
  expect(await forgotten.ended).toMatchObject({ endedBy: 'lease', failure: null });
  clock.nowMs += 29 * MINUTE_MS;
  await jobs.endLeases();
  expect(jobs.running()).toEqual([]);
  await jobs.stop();
});

test('a job that its lease ended says so even if what it left could not be searched', async () => {
  const { jobs, begin, clock } = await openJobs(() => {
    throw new ContextdError('SANDBOX_UNAVAILABLE', 'the workspace could not be searched');
  });
  const job = await begin();
  clock.nowMs += 30 * MINUTE_MS;
  await jobs.endLeases();
  expect(await job.ended).toMatchObject({ endedBy: 'lease', failure: { code: 'SANDBOX_UNAVAILABLE' } });
  await jobs.stop();
});

test('issue 35: a job that is about to begin while the interrupted ones are listed is not one of them', async () => {
  const [written, listed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { jobs, begin } = await openJobs(undefined, () => {
    written.resolve();
    return listed.promise;
  });
  const begun = begin();
  await written.promise;
  expect(await jobs.takeInterrupted(SESSION_A)).toEqual([]);
  listed.resolve();
  const job = await begun;
  expect(await jobs.takeInterrupted(SESSION_A)).toEqual([]);
  expect(jobs.running()).toEqual([job]);
  await jobs.stop();
});

/** `atEnd` runs when the command of a job has ended, before the job has; `onRow` once its row is in the database, before it begins. */
async function openJobs(atEnd: () => void = () => {}, onRow: () => Promise<void> = async () => {}) {
  const dir = await makeTempDir();
  const { clock, database, artifacts } = await openTestArtifacts(dir);
  const [bench, logger] = [await openBench(who), silentLogger];
  onTestFinished(() => bench.close());
  const consents = createConsents({ database, clock });
  await consents.start();
  const projects = createProjectStore({ database, consents, clock, contextdHome: null });
  await projects.start();
  await projects.register(SESSION_A.project, []);
  const auditLog = createAuditLog({ dir: join(dir, 'audit'), clock, logger });
  const liveSessions = createLiveSessions({ database, clock, logger });
  await Promise.all([auditLog.start(), liveSessions.start()]);
  onTestFinished(() => auditLog.stop());
  const store = createOpenJobs({ database });
  const jobs = new Jobs({
    sandbox: {
      begin(...request) {
        const command = bench.sandbox.begin(...request);
        const ended = command.ended.then((end) => {
          atEnd();
          return end;
        });
        return { ...command, ended };
      },
    },
    liveSessions,
    artifacts,
    auditLog,
    journal: createJournal({ database, clock }),
    openJobs: {
      ...store,
      async add(...row) {
        await store.add(...row);
        await onRow();
      },
    },
    scrub: async (_session, { text }) => ({ text, gap: null, rules: [] }),
    mask: async (_session, stream) => stream,
    maskText: (text) => text,
    stored: () => {},
    onJobEnded: () => {},
    config: { jobs: { per_session: 2, total: 2, lease_minutes: 30, output_max_bytes: 1024 } },
    clock,
    logger,
  });
  const begin = () =>
    jobs.begin({
      session: SESSION_A,
      tool: 'safe_bash',
      command: 'exec sleep 1000',
      cwd: bench.workspace,
      env: {},
      stdin: null,
      isTerminal: false,
      policy: bench.policy(),
      opened: [],
      outputKillBytes: 0,
    });
  return { jobs, begin, clock };
}
