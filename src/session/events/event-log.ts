import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { fairShare } from '../../stores/fair-share.ts';
import { type Database, integerOf, type Statement, textOf } from '../../stores/sqlite.ts';
import { type NewEvent, RECORD_TOOLS, type SessionEvent, TEXT_MAX_CHARS } from './event.ts';
import { toEvent } from './event-row.ts';

/** Which events of a session: those of its branch (`session.branch`), unless all are asked for. */
export interface EventRange {
  /** The first position. Default: 1. */
  readonly from?: number;
  /** The last position. Default: that of the newest event. */
  readonly to?: number;
  /** At most this many, the newest of the range. Default: all. */
  readonly newest?: number;
  /** Events of the base and of every branch. Default: false. */
  readonly allBranches?: boolean;
}

/** What is kept. */
export interface EventLimits {
  readonly maxAgeMs: number;
  /** Events of all sessions together. */
  readonly maxEvents: number;
}

/** What is kept of a session. */
export interface SessionLog {
  readonly session: string;
  /** Of the newest event. */
  readonly position: number;
  readonly events: number;
  /** Branches that have events. */
  readonly branches: number;
  /** Milliseconds since the epoch, of the oldest event that is kept and of the newest. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** What happened in sessions, in the order in which it happened. */
export interface EventLog {
  /** Returns at once. The order of the calls is the order of the events. A failure is logged and never reaches the caller. */
  append(event: NewEvent): void;
  /** With everything that was appended before, the oldest first. Throws if the file cannot be used. */
  read(session: SessionRef, range: EventRange): Promise<SessionEvent[]>;
  /** The position of the newest event of the session and its branches; 0 if there was none. Throws as `read` does. */
  position(session: SessionRef): Promise<number>;
}

export interface EventLogDeps {
  database: Database;
  /** Tokens of a text. */
  countTokens(text: string): number;
  limits: EventLimits;
  clock: Clock;
  logger: Logger;
}

/** Events that wait while the disk is full. The oldest of more are dropped, which the log says. */
const WAITING_MAX = 10_000;
/** Events of one transaction. */
const BATCH_MAX = 200;

const COLUMNS = 'seq, branch, kind, parent, at_ms, sensitivity, tokens, text, facts, artifact';

/**
 * A log with a call that did work, or with a message: a session that only looked at the record hides no other. Not as EXISTS,
 * which SQLite makes a join: with ORDER BY and LIMIT it then reads every event of a log that is not the first.
 */
const HAS_WORK = `(SELECT 1 FROM events WHERE log = number AND (kind = 'message'
  OR kind = 'call' AND json_extract(facts, '$.tool') NOT IN (${RECORD_TOOLS.map((tool) => `'${tool}'`).join(', ')}))
  LIMIT 1) IS NOT NULL`;

/** The event log in a database of its own. */
export class StoredEventLog implements EventLog {
  readonly #deps: EventLogDeps;
  #waiting: NewEvent[] = [];
  #writing: Promise<void> | null = null;
  #fault: ContextdError | null = null;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
  }

  /** If the file cannot be used, the log says so, and so does every read: calls go on. */
  async start(): Promise<void> {
    try {
      await this.#deps.database.start();
    } catch (thrown) {
      this.#fault = unusable(ContextdError.from(thrown));
      this.#deps.logger.error('events.unavailable', {}, thrown);
    }
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    await this.#flush();
    await this.#deps.database.stop();
  }

  append(event: NewEvent): void {
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
      ...[session.project, session.session, from, to ?? Number.MAX_SAFE_INTEGER],
      ...[allBranches ? 1 : 0, session.branch, newest ?? -1],
    );
    return rows.map((row) => toEvent(session, row)).reverse();
  }

  async position({ project, session }: SessionRef): Promise<number> {
    const [row] = await (await this.#flushed()).read(
      'SELECT last_seq FROM logs WHERE project = ? AND session = ?',
      ...[project, session],
    );
    return row === undefined ? 0 : integerOf(row, 'last_seq');
  }

  /**
   * What contextd did in the session and its branches with branches, checkpoints and undo: the newest 200 up to the position,
   * the oldest first.
   */
  async bounds({ project, session }: SessionRef, to: number): Promise<SessionEvent[]> {
    // By itself, SQLite looks at every event of the session for the order.
    const rows = await (await this.#flushed()).read(
      `SELECT ${COLUMNS} FROM events INDEXED BY events_bounds
        WHERE log = (SELECT number FROM logs WHERE project = ? AND session = ?)
        AND kind IN ('branch', 'checkpoint', 'undo') AND seq <= ? ORDER BY seq DESC LIMIT 200`,
      ...[project, session, to],
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
      ...[project, session],
    );
    return row === undefined ? null : { project, session: textOf(row, 'session'), branch: null };
  }

  /** The sessions of a project, the one with the newest event first. */
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

  /** Removes what is older or more than allowed: the oldest of the sessions that have more than their share. */
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

  /** Events that could not be written before are tried again. */
  async #flush(): Promise<void> {
    if (this.#waiting.length > 0) this.#writing ??= this.#writeAll();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Events that are appended in the same turn share a transaction.
    await null;
    try {
      while (this.#waiting.length > 0) await this.#writeBatch();
    } catch (thrown) {
      // They stay for the next attempt, which the next event makes.
      this.#deps.logger.warn('events.not_written', {
        events: this.#waiting.length,
        code: ContextdError.from(thrown).code,
      });
    } finally {
      this.#writing = null;
    }
  }

  /** Throws if the disk is full. An event that the database refuses for another reason is dropped alone. */
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
          ...[session.project, session.session, session.branch, event.kind, event.parent ?? null],
          ...[parentArtifact ?? null, event.at, event.sensitivity, this.#deps.countTokens(text), text],
          ...[JSON.stringify(event.facts), event.artifact],
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
