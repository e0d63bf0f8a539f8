import { SESSION_EFFECT_NAMES, SESSION_EFFECTS } from '../../call/effects.ts';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { fairShare } from '../../stores/fair-share.ts';
import { type Database, integerOf, type Statement, textOf } from '../../stores/sqlite.ts';
import { type NewEvent, type SessionEvent, TEXT_MAX_CHARS } from './event.ts';
import { toEvent } from './event-row.ts';

/** Selects events of a session: those of its branch (`session.branch`), unless all branches are requested. */
export interface EventRange {
  /** First position. Default: 1. */
  readonly from?: number;
  /** Last position. Default: that of the newest event. */
  readonly to?: number;
  /** Maximum number of events; the newest of the range are kept. Default: all. */
  readonly newest?: number;
  /** Include the base and every branch. Default: false. */
  readonly allBranches?: boolean;
}

/** Retention limits. */
export interface EventLimits {
  readonly maxAgeMs: number;
  /** Maximum number of events of all sessions together. */
  readonly maxEvents: number;
}

/** Summary of a session's log. */
export interface SessionLog {
  readonly session: string;
  /** Position of the newest event. */
  readonly position: number;
  readonly events: number;
  /** Number of branches with events. */
  readonly branches: number;
  /** Milliseconds since the epoch: of the oldest kept event, and of the newest. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The events of sessions, in the order in which they happened. */
export interface EventLog {
  /** Returns at once; events keep the order of the calls. Failures are logged and never reach the caller. */
  append(event: NewEvent): void;
  /** Includes everything appended before; oldest first. Throws if the file is unusable. */
  read(session: SessionRef, range: EventRange): Promise<SessionEvent[]>;
  /** Position of the newest event of the session and its branches; 0 without events. Throws like `read`. */
  position(session: SessionRef): Promise<number>;
}

export interface EventLogDeps {
  database: Database;
  /** Number of tokens of a text. */
  countTokens(text: string): number;
  limits: EventLimits;
  /** Called with each event before it is written. Must not throw. */
  onEvent?(event: NewEvent): void;
  clock: Clock;
  logger: Logger;
}

/** Events buffered while the disk is full. Beyond this the oldest are dropped and a warning is logged. */
const WAITING_MAX = 10_000;
/** Maximum number of events per transaction. */
const BATCH_MAX = 200;

const COLUMNS = 'seq, branch, kind, parent, at_ms, sensitivity, tokens, text, facts, artifact';

const WORK = SESSION_EFFECT_NAMES.filter((effect) => SESSION_EFFECTS[effect].isWork);

/**
 * A log with a call that did work, or with a message: a session that only looked at the record does not hide others.
 * Not as EXISTS, which SQLite turns into a join: with ORDER BY and LIMIT it then reads every event of each log after
 * the first.
 */
const HAS_WORK = `(SELECT 1 FROM events WHERE log = number AND (kind = 'message'
  OR kind = 'call' AND json_extract(facts, '$.effect') IN (${WORK.map((effect) => `'${effect}'`).join(', ')}))
  LIMIT 1) IS NOT NULL`;

/** The event log in its own database. */
export class StoredEventLog implements EventLog {
  readonly #deps: EventLogDeps;
  #waiting: NewEvent[] = [];
  #writing: Promise<void> | null = null;
  #fault: ContextdError | null = null;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
  }

  /** If the file is unusable, this is logged and every read throws, but calls still work. */
  async start(): Promise<void> {
    try {
      await this.#deps.database.start();
    } catch (thrown) {
      this.#fault = unusable(ContextdError.from(thrown));
      this.#deps.logger.error('events.unavailable', {}, thrown);
    }
  }

  /** Writes the buffered events. */
  async stop(): Promise<void> {
    await this.#flush();
    await this.#deps.database.stop();
  }

  append(event: NewEvent): void {
    this.#deps.onEvent?.(event);
    if (this.#fault !== null) return;
    this.#waiting.push(event);
    const over = this.#waiting.length - WAITING_MAX;
    if (over > 0) {
      this.#waiting.splice(0, over);
      this.#deps.logger.warn('events.dropped', { events: over, why: 'too many wait to be written' });
    }
    this.#writing ??= this.#writeAll();
  }

  async read(session: SessionRef, { from = 1, to, newest, allBranches = false }: EventRange): Promise<SessionEvent[]> {
    const rows = await (await this.#flushed()).read(
      `SELECT ${COLUMNS} FROM events
        WHERE log = (SELECT number FROM logs WHERE project = ?1 AND session = ?2) AND seq BETWEEN ?3 AND ?4
          AND (?5 = 1 OR branch IS ?6) ORDER BY seq DESC LIMIT ?7`,
      session.project,
      session.session,
      from,
      to ?? Number.MAX_SAFE_INTEGER,
      allBranches ? 1 : 0,
      session.branch,
      newest ?? -1,
    );
    return rows.map((row) => toEvent(session, row)).reverse();
  }

  async position({ project, session }: SessionRef): Promise<number> {
    const [row] = await (await this.#flushed()).read(
      'SELECT last_seq FROM logs WHERE project = ? AND session = ?',
      project,
      session,
    );
    return row === undefined ? 0 : integerOf(row, 'last_seq');
  }

  /** Events about branches, checkpoints and undo of the whole session: the newest 200 up to `to`, oldest first. */
  async bounds({ project, session }: SessionRef, to: number): Promise<SessionEvent[]> {
    // Otherwise SQLite scans every event of the session for the order.
    const rows = await (await this.#flushed()).read(
      `SELECT ${COLUMNS} FROM events INDEXED BY events_bounds
        WHERE log = (SELECT number FROM logs WHERE project = ? AND session = ?)
        AND kind IN ('branch', 'checkpoint', 'undo') AND seq <= ? ORDER BY seq DESC LIMIT 200`,
      project,
      session,
      to,
    );
    return rows.map((row) => toEvent({ project, session }, row)).reverse();
  }

  /** True if a session of the project did any work. */
  async hasWork(project: string): Promise<boolean> {
    const [row] = await (await this.#flushed()).read(
      `SELECT EXISTS (SELECT 1 FROM logs WHERE project = ? AND ${HAS_WORK}) AS has_work`,
      project,
    );
    return integerOf(row ?? {}, 'has_work') === 1;
  }

  /** The session of the project that worked last, other than this one. */
  async before({ project, session }: SessionRef): Promise<SessionRef | null> {
    const [row] = await (await this.#flushed()).read(
      `SELECT session FROM logs WHERE project = ? AND session <> ? AND ${HAS_WORK}
        ORDER BY used_ms DESC, number DESC LIMIT 1`,
      project,
      session,
    );
    return row === undefined ? null : { project, session: textOf(row, 'session'), branch: null };
  }

  /** The sessions of a project, most recently active first. */
  async sessions(project: string): Promise<SessionLog[]> {
    const rows = await (await this.#flushed()).read(
      `SELECT session, last_seq, used_ms, count(seq) AS events, count(DISTINCT branch) AS branches,
          coalesce(min(at_ms), used_ms) AS first_ms
        FROM logs LEFT JOIN events ON log = number WHERE project = ? GROUP BY number ORDER BY used_ms DESC, number DESC`,
      project,
    );
    return rows.map((row) => ({
      session: textOf(row, 'session'),
      position: integerOf(row, 'last_seq'),
      events: integerOf(row, 'events'),
      branches: integerOf(row, 'branches'),
      firstMs: integerOf(row, 'first_ms'),
      lastMs: integerOf(row, 'used_ms'),
    }));
  }

  /** Deletes events that are too old, then the oldest events of sessions above their fair share. */
  async prune(): Promise<void> {
    const { limits, clock } = this.#deps;
    const database = await this.#flushed();
    const oldest = clock.now() - limits.maxAgeMs;
    await database.write([
      { sql: 'DELETE FROM events WHERE at_ms < ?', params: [oldest] },
      {
        sql: 'DELETE FROM logs WHERE used_ms < ? AND NOT EXISTS (SELECT 1 FROM events WHERE log = number)',
        params: [oldest],
      },
    ]);
    const rows = await database.read('SELECT log, count(*) AS count FROM events GROUP BY log');
    const counts = rows.map((row) => ({ log: integerOf(row, 'log'), count: integerOf(row, 'count') }));
    const share = fairShare(
      counts.map(({ count }) => count),
      limits.maxEvents,
    );
    const over = counts.filter(({ count }) => count > share);
    if (over.length > 0) await database.write(over.map(({ log }) => ({ sql: PRUNE_LOG, params: [log, share] })));
  }

  async #flushed(): Promise<Database> {
    if (this.#fault !== null) throw this.#fault;
    await this.#flush();
    return this.#deps.database;
  }

  /** Retries events that could not be written before. */
  async #flush(): Promise<void> {
    if (this.#waiting.length > 0) this.#writing ??= this.#writeAll();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Events appended in the same tick share a transaction.
    await null;
    try {
      while (this.#waiting.length > 0) await this.#writeBatch();
    } catch (thrown) {
      // They stay buffered; the next event or read retries.
      this.#deps.logger.warn('events.not_written', {
        events: this.#waiting.length,
        code: ContextdError.from(thrown).code,
      });
    } finally {
      this.#writing = null;
    }
  }

  /** Throws if the disk is full. An event that the database rejects for another reason is dropped on its own. */
  async #writeBatch(): Promise<void> {
    const { database } = this.#deps;
    const batch = this.#waiting.splice(0, BATCH_MAX);
    try {
      await database.write(batch.flatMap((event) => this.#insertion(event)));
    } catch (thrown) {
      if (ContextdError.from(thrown).code === 'STORAGE_FULL' || database.state !== 'ready') {
        this.#waiting.unshift(...batch);
        throw thrown;
      }
      for (const event of batch) await this.#writeAlone(event);
    }
  }

  async #writeAlone(event: NewEvent): Promise<void> {
    try {
      await this.#deps.database.write(this.#insertion(event));
    } catch (thrown) {
      this.#deps.logger.error('events.dropped', { events: 1, kind: event.kind }, thrown);
    }
  }

  #insertion({ session, parentArtifact, ...event }: NewEvent): Statement[] {
    const text = event.text.slice(0, TEXT_MAX_CHARS);
    return [
      {
        sql: `INSERT INTO logs (project, session, last_seq, used_ms) VALUES (?1, ?2, 1, ?3)
              ON CONFLICT (project, session) DO UPDATE SET last_seq = last_seq + 1, used_ms = max(used_ms, ?3)`,
        params: [session.project, session.session, event.at],
      },
      {
        sql: `INSERT INTO events (log, ${COLUMNS})
              SELECT number, last_seq, ?3, ?4,
                coalesce(?5, (SELECT min(seq) FROM events WHERE log = number AND artifact = ?6)),
                ?7, ?8, ?9, ?10, ?11, ?12
              FROM logs WHERE project = ?1 AND session = ?2`,
        params: [
          session.project,
          session.session,
          session.branch,
          event.kind,
          event.parent ?? null,
          parentArtifact ?? null,
          event.at,
          event.sensitivity,
          this.#deps.countTokens(text),
          text,
          JSON.stringify(event.facts),
          event.artifact,
        ],
      },
    ];
  }
}

const PRUNE_LOG = `DELETE FROM events WHERE log = ?1
  AND seq <= (SELECT seq FROM events WHERE log = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`;

function unusable(cause: ContextdError): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `the record of sessions cannot be used: ${cause.message}`, {
    ...(cause.remedy === undefined ? {} : { remedy: cause.remedy }),
    cause,
  });
}
