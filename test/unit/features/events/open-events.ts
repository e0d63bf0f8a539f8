import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { silentLogger } from '#src/core/log.js';
import type { NewEvent } from '#src/features/events/event.js';
import { type EventLimits, StoredEventLog } from '#src/features/events/event-log.js';
import { EVENT_MIGRATIONS } from '#src/features/events/migrations.js';
import type { Database } from '#src/stores/sqlite.js';
import { loadCounter } from '#src/tokens/counter.js';
import { createTestDatabase } from '../../../helpers/test-database.ts';
import { makeTempDir, TestClock } from '../../stores/open-stores.ts';

const counter = loadCounter();
const NO_LIMITS: EventLimits = { maxAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 1_000_000 };

export interface TestEvents {
  dir: string;
  clock: TestClock;
  database: Database;
  eventLog: StoredEventLog;
  /** What was logged. */
  logged: string[];
}

/** A started event log in `dir`, stopped when the test ends. */
export async function openTestEvents(given?: string, limits = NO_LIMITS): Promise<TestEvents> {
  const dir = given ?? (await makeTempDir());
  const logged: string[] = [];
  const say = (event: string): void => void logged.push(event);
  const logger = { ...silentLogger, warn: say, error: say };
  const clock = new TestClock();
  const database = createTestDatabase({ file: join(dir, 'sessions.db'), migrations: EVENT_MIGRATIONS, logger });
  const countTokens = (text: string): number => counter.count(text);
  const eventLog = new StoredEventLog({ database, countTokens, limits, clock, logger });
  await eventLog.start();
  onTestFinished(() => eventLog.stop());
  return { dir, clock, database, eventLog, logged };
}

export function messageOf(session: SessionRef, text: string, more: { at?: number; artifact?: string } = {}): NewEvent {
  const { at = 1, artifact = null } = more;
  return { session, kind: 'message', at, sensitivity: 'internal', text, facts: { role: 'user' }, artifact };
}
