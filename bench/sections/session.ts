import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import type { CallEventFacts, NewEvent } from '../../src/features/events/event.ts';
import { eventDatabase } from '../../src/features/events/event-database.ts';
import { StoredEventLog } from '../../src/features/events/event-log.ts';
import { type BenchInstallation, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { race, runProcess } from '../lib/measure.ts';
import { type Outcome, type Row, rowsOf, type Section } from '../lib/section.ts';

const SESSION_INIT_LINK = '.claude/tools/session_init/session_init';
const BASE = 'safe_bash true';
export const SIZES = [100, 10_000, 100_000];
/** How much longer a warm start of 10,000 events may take. */
const AIM_MS = 30;
/** Milliseconds until the daemon is ready for the next call. */
const REST_MS = 30;

/** A warm start of sessions with few and with many events, from spawn to the last byte, beside a command that does nothing. */
export const sessionSection: Section = {
  async run({ rounds }) {
    const at = await installForBench({});
    try {
      await at.ctxd('server', 'stop');
      await fill(at);
      const measured = await race(
        [
          {
            name: BASE,
            once: () => call(at, SAFE_BASH_LINK, '{"command":"true"}', 'base'),
            after: () => delay(REST_MS),
          },
          ...SIZES.map((events) => ({
            name: nameOf(events),
            once: () => call(at, SESSION_INIT_LINK, '{"task":"fix the login"}', `bench-${events}`),
            after: () => delay(REST_MS),
          })),
        ],
        rounds,
      );
      return outcomeOf(rowsOf(measured));
    } finally {
      await at.remove();
    }
  },
};

function outcomeOf(rows: readonly Row[]): Outcome {
  const base = rows.find(({ name }) => name === BASE)?.times?.medianMs ?? 0;
  const aims = [{ row: nameOf(10_000), atMost: Math.round(base + AIM_MS), times: null }];
  return { tables: [{ title: 'one call as a process, ms', base: BASE, rows: [...rows], aims }], facts: [] };
}

const nameOf = (events: number): string => `session_init, ${events.toLocaleString('en')} events`;

async function call(at: BenchInstallation, link: string, input: string, session: string): Promise<undefined> {
  await runProcess(link, [input], { cwd: at.project, env: { ...at.env, CONTEXTD_SESSION_ID: session } });
  return undefined;
}

/** Writes the events as the daemon would; each fifth call fails, and each third is a message. */
export async function fill(at: BenchInstallation): Promise<void> {
  const database = eventDatabase({ file: at.paths.sessionDb, logger: silentLogger });
  const limits = { maxAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: Number.MAX_SAFE_INTEGER };
  const eventLog = new StoredEventLog({
    database,
    countTokens: () => 20,
    limits,
    clock: systemClock,
    logger: silentLogger,
  });
  await eventLog.start();
  for (const events of SIZES) {
    for (let i = 0; i < events; i++) {
      eventLog.append(eventOf(at.project, `bench-${events}`, i));
      if (i % 5_000 === 4_999) await eventLog.position({ project: at.project, session: 'none', branch: null });
    }
  }
  await eventLog.stop();
}

function eventOf(project: string, session: string, i: number): NewEvent {
  const common = { session: { project, session, branch: null }, at: Date.now(), sensitivity: 'internal' as const };
  if (i % 3 === 0)
    return { ...common, kind: 'message', text: `step ${i} of the work`, facts: { role: 'user' }, artifact: null };
  const subject = `npm test -- part-${i % 400}`;
  const facts: CallEventFacts = {
    requestId: `req_${i}`,
    tool: 'safe_bash',
    effect: 'command',
    subject,
    sameness: subject,
    hasRun: true,
    errorCode: null,
    pipeStatus: [],
    failedPart: null,
    exitCode: i % 5 === 0 ? 1 : 0,
    durationMs: 12,
    tokensSpent: 80,
    undo: null,
    quarantined: [],
    job: null,
    errorLine: i % 5 === 0 ? `Error: part-${i % 400} failed: expected 1 to be 2` : '',
    reported: null,
    filesWritten: i % 7 === 0 ? [`src/file-${i % 90}.ts`] : [],
  };
  return { ...common, kind: 'call', text: `safe_bash ${subject}`, facts, artifact: `art_${i}` };
}
