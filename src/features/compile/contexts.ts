import { createHash } from 'node:crypto';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import {
  buildStart,
  readStart,
  renderStart,
  START_KIND,
  type StartBuild,
  type StartRequest,
} from '../warm-start/start-build.ts';
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

export interface ContextsDeps {
  database: Database;
  eventLog: Pick<StoredEventLog, 'read' | 'bounds'>;
  countTokens(text: string): number;
  clock: Clock;
  logger: Logger;
}

/** A context that was made, as it is remembered. */
interface Remembered {
  readonly position: number;
  readonly events: number;
  readonly request: string;
  readonly sha256: string;
}

/** Contexts of sessions and their warm starts, and the proof that each can be made again. */
export class Contexts {
  readonly #deps: ContextsDeps;

  constructor(deps: ContextsDeps) {
    this.#deps = deps;
  }

  /** Makes a context of the newest 1,000 events up to `to`, by default of all, and remembers what it was made of. */
  async build(session: SessionRef, request: CompileRequest, to?: number): Promise<Built> {
    const { built, events } = await this.#compile(session, request, to);
    const { position, sha256 } = built;
    await this.#remember(session, { position, events, request: JSON.stringify(request), sha256 });
    return built;
  }

  /** Remembers what a warm start was made of. Returns at once: nobody waits for the disk. A failure is logged. */
  rememberStart(session: SessionRef, request: StartRequest, { text, events }: StartBuild): void {
    const { position } = request;
    const remembered = { position, events, request: renderStart(request), sha256: hashOf(text) };
    this.#remember(session, remembered).catch((cause) =>
      this.#deps.logger.warn('start.not_remembered', { why: ContextdError.from(cause).message }),
    );
  }

  /** Makes every remembered context of the session again, the oldest first. */
  async replay(session: SessionRef): Promise<Replayed[]> {
    const rows = await this.#deps.database.read(
      `SELECT builds.* FROM builds JOIN logs ON logs.number = builds.log
        WHERE project = ? AND session = ? ORDER BY builds.number`,
      session.project,
      session.session,
    );
    const replayed: Replayed[] = [];
    for (const row of rows) replayed.push(await this.#replayOne(session, row));
    return replayed;
  }

  async #remember(
    { project, session, branch }: SessionRef,
    { position, events, request, sha256 }: Remembered,
  ): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#deps.database.write([
      {
        // The first thing that a session does may be to ask for its warm start.
        sql: 'INSERT INTO logs (project, session, last_seq, used_ms) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING',
        params: [project, session, now],
      },
      {
        sql: `INSERT INTO builds (log, position, events, branch, request, sha256, at_ms)
              SELECT number, ?3, ?4, ?5, ?6, ?7, ?8 FROM logs WHERE project = ?1 AND session = ?2`,
        params: [project, session, position, events, branch, request, sha256, now],
      },
      {
        sql: `DELETE FROM builds WHERE log = (SELECT number FROM logs WHERE project = ?1 AND session = ?2)
              AND number <= (SELECT number FROM builds WHERE log = (SELECT number FROM logs WHERE project = ?1 AND session = ?2)
                ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_MAX})`,
        params: [project, session],
      },
    ]);
  }

  async #replayOne(session: SessionRef, row: Row): Promise<Replayed> {
    const branch = row.branch === null ? null : textOf(row, 'branch');
    const [position, sha256] = [integerOf(row, 'position'), textOf(row, 'sha256')];
    const made = await this.#makeAgain({ ...session, branch }, textOf(row, 'request'), position);
    const same = made.sha256 === sha256 ? 'same' : 'differs';
    const result = made.events === integerOf(row, 'events') ? same : 'gone';
    const [number, atMs] = [integerOf(row, 'number'), integerOf(row, 'at_ms')];
    return { number, position, phase: made.phase, sha256, atMs, result };
  }

  async #makeAgain(session: SessionRef, json: string, position: number) {
    const { eventLog, countTokens } = this.#deps;
    const start = readStart(json);
    if (start !== null) {
      const { text, events } = await buildStart(session, start, eventLog, countTokens);
      return { phase: START_KIND, sha256: hashOf(text), events };
    }
    const request = readRequest(json);
    const { built, events } = await this.#compile(session, request, position);
    return { phase: request.phase, sha256: built.sha256, events };
  }

  async #compile(
    session: SessionRef,
    request: CompileRequest,
    to: number | undefined,
  ): Promise<{ built: Built; events: number }> {
    const { eventLog, countTokens } = this.#deps;
    const events = await eventLog.read(session, { newest: READ_MAX, ...(to === undefined ? {} : { to }) });
    const context = compile(events, request, countTokens);
    const built = { ...context, position: events.at(-1)?.seq ?? 0, sha256: hashOf(context.text) };
    return { built, events: events.length };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
