import { createHash } from 'node:crypto';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { type Database, integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import type { EventLog } from '../events/event-log.ts';
import { type CompiledContext, type CompileRequest, compile } from './compile.ts';
import { readRequest } from './request.ts';

export interface Built extends CompiledContext {
  /** Of the newest event that was read. */
  readonly position: number;
  readonly sha256: string;
}

export interface Replayed {
  readonly number: number;
  readonly position: number;
  readonly phase: string;
  readonly sha256: string;
  readonly atMs: number;
  /** `gone`: events that it was made of were removed. */
  readonly result: 'same' | 'differs' | 'gone';
}

/** Events that a context is made of: the newest. */
const READ_MAX = 1_000;
/** Contexts of one session that can be replayed: the newest. */
const KEPT_MAX = 100;

/** Contexts of sessions, and the proof that each can be made again. */
export class Contexts {
  readonly #deps: { database: Database; eventLog: EventLog; countTokens(text: string): number; clock: Clock };

  constructor(deps: { database: Database; eventLog: EventLog; countTokens(text: string): number; clock: Clock }) {
    this.#deps = deps;
  }

  /** Makes a context of the newest 1,000 events up to `to`, by default of all, and remembers what it was made of. */
  async build(session: SessionRef, request: CompileRequest, to?: number): Promise<Built> {
    const { built, events } = await this.#compile(session, request, to);
    const { project, session: name, branch } = session;
    await this.#deps.database.write([
      {
        sql: `INSERT INTO builds (log, position, events, branch, request, sha256, at_ms)
              SELECT number, ?3, ?4, ?5, ?6, ?7, ?8 FROM logs WHERE project = ?1 AND session = ?2`,
        params: [
          ...[project, name, built.position, events, branch],
          ...[JSON.stringify(request), built.sha256, this.#deps.clock.now()],
        ],
      },
      {
        sql: `DELETE FROM builds WHERE log = (SELECT number FROM logs WHERE project = ?1 AND session = ?2)
              AND number <= (SELECT number FROM builds WHERE log = (SELECT number FROM logs WHERE project = ?1 AND session = ?2)
                ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_MAX})`,
        params: [project, name],
      },
    ]);
    return built;
  }

  /** Makes every remembered context of the session again, the oldest first. */
  async replay(session: SessionRef): Promise<Replayed[]> {
    const rows = await this.#deps.database.read(
      `SELECT builds.* FROM builds JOIN logs ON logs.number = builds.log
        WHERE project = ? AND session = ? ORDER BY builds.number`,
      ...[session.project, session.session],
    );
    const replayed: Replayed[] = [];
    for (const row of rows) replayed.push(await this.#replayOne(session, row));
    return replayed;
  }

  async #replayOne(session: SessionRef, row: Row): Promise<Replayed> {
    const request = readRequest(textOf(row, 'request'));
    const [position, sha256] = [integerOf(row, 'position'), textOf(row, 'sha256')];
    const branch = row.branch === null ? null : textOf(row, 'branch');
    const { built, events } = await this.#compile({ ...session, branch }, request, position);
    const same = built.sha256 === sha256 ? 'same' : 'differs';
    const result = events === integerOf(row, 'events') ? same : 'gone';
    const [number, atMs] = [integerOf(row, 'number'), integerOf(row, 'at_ms')];
    return { number, position, phase: request.phase, sha256, atMs, result };
  }

  async #compile(
    session: SessionRef,
    request: CompileRequest,
    to: number | undefined,
  ): Promise<{ built: Built; events: number }> {
    const { eventLog, countTokens } = this.#deps;
    const events = await eventLog.read(session, { newest: READ_MAX, ...(to === undefined ? {} : { to }) });
    const context = compile(events, request, countTokens);
    const sha256 = createHash('sha256').update(context.text).digest('hex');
    return { built: { ...context, position: events.at(-1)?.seq ?? 0, sha256 }, events: events.length };
  }
}
