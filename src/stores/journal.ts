import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import { KeptAnswers } from './kept-answers.ts';
import { type Database, integerOf, type Row, textOf } from './sqlite.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days after which finished calls are removed, at a start. The audit log is the permanent record. */
export const JOURNAL_KEPT_DAYS = 7;
/** Error code of calls that a crash left open. */
const INTERRUPTED: ErrorCode = 'INTERRUPTED';
/** Error code of a call that was taken back before it ran. */
const TAKEN_BACK: ErrorCode = 'DAEMON_UNAVAILABLE';

export interface JournalEntry {
  requestId: string;
  tool: string;
  session: SessionRef;
  /** Of its seal: who made the call, in which project and with which payload. Absent: no caller can ask for its answer. */
  tag?: string;
}

/** What the journal has of a call that a caller asks for. */
export interface JournalCall {
  readonly tool: string;
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  readonly tag: string;
  /** True if it has not finished. */
  readonly isOpen: boolean;
  /** The sealed answer; null if the call has none, or an answer is no longer kept. */
  readonly answer: string | null;
}

export interface JournalCounts {
  /** Calls that began and have not finished. */
  running: number;
  /** Calls that finished in the last 7 days, including failed ones. */
  finished: number;
  /** Finished calls with an error code. */
  failed: number;
  /** Finished calls that failed because the daemon died. */
  interrupted: number;
}

/** A call that began and has not finished. */
export interface JournalRow {
  requestId: string;
  tool: string;
  project: string;
  session: string;
  /** Milliseconds since the epoch. */
  startedMs: number;
}

/** Calls that began, and their ends. Calls left open by a crash are marked INTERRUPTED at the next start. */
export interface Journal {
  /** The open calls. Before `start`: the calls that the last daemon left open. */
  open(): Promise<JournalRow[]>;
  /**
   * Closes the calls left open by the last daemon and returns their number. Removes calls finished over 7 days ago. `live`: request
   * ids of calls that go on.
   */
  start(live?: readonly string[]): Promise<number>;
  /** Errors: CONFLICT if the request id was used before. */
  begin(entry: JournalEntry): Promise<void>;
  /** `errorCode` is null for success. `answer`: sealed, for a caller that lost its connection. Does nothing if the call is not open. */
  finish(requestId: string, errorCode: ErrorCode | null, answer?: string): Promise<void>;
  /** Enters a call that was taken back and runs again under another id, as finished without an answer: this id must not run. */
  retire(entry: JournalEntry): Promise<void>;
  /** Null for a call that never began, or that finished over `JOURNAL_KEPT_DAYS` ago. */
  find(requestId: string): Promise<JournalCall | null>;
  counts(): Promise<JournalCounts>;
}

export function createJournal(deps: { database: Database; clock: Clock }): Journal {
  const { database, clock } = deps;
  const answers = new KeptAnswers(database);
  return {
    async open() {
      const rows = await database.read(
        `SELECT request_id, tool, project, session, started_ms FROM calls WHERE finished_ms IS NULL ORDER BY started_ms`,
      );
      return rows.map((row) => ({
        requestId: textOf(row, 'request_id'),
        tool: textOf(row, 'tool'),
        project: textOf(row, 'project'),
        session: textOf(row, 'session'),
        startedMs: integerOf(row, 'started_ms'),
      }));
    },

    async start(live = []) {
      const [interrupted] = await database.write([
        {
          sql: `UPDATE calls SET finished_ms = ?, error_code = ?
                WHERE finished_ms IS NULL AND request_id NOT IN (SELECT value FROM json_each(?)) RETURNING request_id`,
          params: [clock.now(), INTERRUPTED, JSON.stringify(live)],
        },
        { sql: 'DELETE FROM calls WHERE finished_ms < ?', params: [clock.now() - JOURNAL_KEPT_DAYS * DAY_MS] },
      ]);
      await answers.start();
      return interrupted?.length ?? 0;
    },

    async begin({ requestId, tool, session: { project, session }, tag = '' }) {
      const [begun] = await database.write([
        {
          sql: `INSERT INTO calls (request_id, tool, project, session, started_ms, tag) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING RETURNING 1 AS begun`,
          params: [requestId, tool, project, session, clock.now(), tag],
        },
      ]);
      if (!begun?.length) throw usedBefore(requestId);
    },

    async finish(requestId, errorCode, answer) {
      const sql = 'UPDATE calls SET finished_ms = ?, error_code = ? WHERE request_id = ? AND finished_ms IS NULL';
      const kept = answer === undefined ? [] : answers.keep(requestId, answer);
      await database.write([{ sql, params: [clock.now(), errorCode, requestId] }, ...kept]);
    },

    async retire({ requestId, tool, session: { project, session }, tag = '' }) {
      await database.write([
        {
          sql: `INSERT INTO calls (request_id, tool, project, session, started_ms, tag, finished_ms, error_code)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5, ?7) ON CONFLICT DO NOTHING`,
          params: [requestId, tool, project, session, clock.now(), tag, TAKEN_BACK],
        },
        answers.drop(requestId),
      ]);
    },

    async find(requestId) {
      const [row] = await database.read(
        `SELECT tool, project, started_ms, tag, finished_ms IS NULL AS is_open, sealed
         FROM calls LEFT JOIN call_answers USING (request_id) WHERE request_id = ?`,
        requestId,
      );
      if (row === undefined) return null;
      return {
        tool: textOf(row, 'tool'),
        project: textOf(row, 'project'),
        startedMs: integerOf(row, 'started_ms'),
        tag: textOf(row, 'tag'),
        isOpen: integerOf(row, 'is_open') === 1,
        answer: row.sealed === null ? null : textOf(row, 'sealed'),
      };
    },

    async counts() {
      const [row] = await database.read(
        `SELECT (SELECT count(*) FROM calls WHERE finished_ms IS NULL) AS running, count(*) AS finished,
                count(error_code) AS failed, count(*) FILTER (WHERE error_code = ?1) AS interrupted
         FROM calls WHERE finished_ms >= ?2`,
        INTERRUPTED,
        clock.now() - JOURNAL_KEPT_DAYS * DAY_MS,
      );
      return toCounts(row ?? {});
    },
  };
}

function toCounts(row: Row): JournalCounts {
  return {
    running: integerOf(row, 'running'),
    finished: integerOf(row, 'finished'),
    failed: integerOf(row, 'failed'),
    interrupted: integerOf(row, 'interrupted'),
  };
}

function usedBefore(requestId: string): ContextdError {
  return new ContextdError('CONFLICT', `request id ${requestId} was used before`, {
    remedy: 'Give every call a new request id. Never send a call twice.',
  });
}
