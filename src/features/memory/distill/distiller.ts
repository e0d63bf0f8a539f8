import type { Clock } from '../../../core/clock.ts';
import { untilAborted } from '../../../core/deadline.ts';
import { ContextdError } from '../../../core/errors.ts';
import { Lock } from '../../../core/lock.ts';
import type { Logger } from '../../../core/log.ts';
import { type Database, integerOf, type Row, textOf } from '../../../stores/sqlite.ts';
import type { MemoryDraft, MemoryOutcome } from '../item.ts';
import type { Memories } from '../memories.ts';
import type { LessonWriter } from './lesson-writer.ts';
import { LESSONS_MAX, type Lesson, lessonsOf, type RecordedCall } from './lessons.ts';

/** Recorded calls to learn from. */
export interface Distillation {
  /** Root of the project. */
  readonly project: string;
  /** The calls, of one session or several; more than the newest 500 are not looked at. */
  readonly requestIds: readonly string[];
  /** What the work was for; may be empty. Masked. */
  readonly task: string;
  /** How the work ended; null: as its calls did. */
  readonly outcome: MemoryOutcome | null;
}

/** A distillation that waits, or has failed. */
export interface PendingDistillation extends Distillation {
  readonly id: string;
  readonly askedMs: number;
  /** Why it failed for good; '' while it waits. */
  readonly fault: string;
}

export interface DistillerDeps {
  /** The memory database. */
  database: Database;
  memories: Pick<Memories, 'store'>;
  /** The calls of the project that are on record, the oldest first, masked for keeping. */
  readCalls(project: string, requestIds: readonly string[]): Promise<RecordedCall[]>;
  /** Masks what a model wrote. */
  mask(project: string, drafts: readonly MemoryDraft[]): Promise<MemoryDraft[]>;
  /** Null: lessons are made without a model. */
  writer: LessonWriter | null;
  clock: Clock;
  logger: Logger;
}

/** Distillations that may wait, that have failed and are kept, and attempts at one. */
const WAITING_MAX = 200;
const FAILED_KEPT = 50;
const ATTEMPTS_MAX = 3;
export const CALLS_MAX = 500;

/** Makes memories of recorded calls, one distillation after the other, beside the calls. What waits survives a restart. */
export class Distiller {
  readonly #deps: DistillerDeps;
  readonly #stopping = new AbortController();
  readonly #rounds = new Lock();

  constructor(deps: DistillerDeps) {
    this.#deps = deps;
  }

  /** Goes on with what the last daemon left. */
  async start(): Promise<void> {
    this.#wake();
  }

  /** What is under way is given up and begun again at the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the daemon stops'));
    await this.#rounds.settled;
  }

  /** Returns the id of what waits now. Throws RATE_LIMITED if 200 wait already. */
  async distill({ project, requestIds, task, outcome }: Distillation): Promise<string> {
    const { database, clock } = this.#deps;
    const ids = [...new Set(requestIds)].sort().slice(-CALLS_MAX);
    const [rows = []] = await database.write([
      {
        sql: `INSERT INTO pending (project, task, outcome, request_ids, asked_ms, attempts, fault)
          SELECT ?1, ?2, ?3, ?4, ?5, 0, '' WHERE (SELECT count(*) FROM pending WHERE fault = '') < ?6 RETURNING seq`,
        params: [project, task, outcome ?? '', JSON.stringify(ids), clock.now(), WAITING_MAX],
      },
    ]);
    const [row] = rows;
    if (row === undefined)
      throw new ContextdError('RATE_LIMITED', `${WAITING_MAX} distillations wait already`, {
        remedy: 'Try again later; `ctxd memory list --pending` shows what waits.',
      });
    this.#wake();
    return String(integerOf(row, 'seq'));
  }

  /** What waits and what has failed, the oldest first. */
  async pending(project: string): Promise<PendingDistillation[]> {
    const rows = await this.#deps.database.read('SELECT * FROM pending WHERE project = ? ORDER BY seq', project);
    return rows.map(toPending);
  }

  #wake(): void {
    void this.#rounds.run(() => this.#drain());
  }

  async #drain(): Promise<void> {
    const { database, logger } = this.#deps;
    try {
      for (;;) {
        if (this.#stopping.signal.aborted) return;
        const [row] = await database.read(`SELECT * FROM pending WHERE fault = '' ORDER BY attempts, seq LIMIT 1`);
        if (row === undefined) return;
        await this.#carryOut(toPending(row), integerOf(row, 'attempts'));
      }
    } catch (thrown) {
      if (!this.#stopping.signal.aborted) logger.error('memory.distill_stopped', {}, thrown);
    }
  }

  async #carryOut(pending: PendingDistillation, attempts: number): Promise<void> {
    const { database, logger } = this.#deps;
    try {
      const stored = await untilAborted(this.#learn(pending), this.#stopping.signal);
      await database.write([{ sql: 'DELETE FROM pending WHERE seq = ?', params: [Number(pending.id)] }]);
      logger.info('memory.distilled', { id: pending.id, calls: pending.requestIds.length, stored });
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      const fault = attempts + 1 < ATTEMPTS_MAX ? '' : ContextdError.from(thrown).message;
      logger.warn('memory.distill_failed', { id: pending.id, message: ContextdError.from(thrown).message });
      await database.write([
        {
          sql: 'UPDATE pending SET attempts = attempts + 1, fault = ? WHERE seq = ?',
          params: [fault, Number(pending.id)],
        },
        {
          sql: `DELETE FROM pending WHERE fault <> '' AND seq NOT IN
            (SELECT seq FROM pending WHERE fault <> '' ORDER BY seq DESC LIMIT ?)`,
          params: [FAILED_KEPT],
        },
      ]);
    }
  }

  /** Stores at most three new lessons that the calls teach, and returns how many. The same calls again add nothing new. */
  async #learn(pending: PendingDistillation): Promise<number> {
    const { memories, readCalls } = this.#deps;
    const calls = await readCalls(pending.project, pending.requestIds);
    const lessons = await this.#lessonsOf(calls, pending);
    let stored = 0;
    for (const { draft, requestIds } of lessons) {
      this.#stopping.signal.throwIfAborted();
      if (stored === LESSONS_MAX) break;
      const author = { origin: 'distilled', owner: '', source: '', requestIds } as const;
      const { state } = await memories.store(pending.project, draft, author);
      // A session is learned from again when it has gone on: what is known already takes no place.
      if (state === 'stored') stored += 1;
    }
    return stored;
  }

  async #lessonsOf(calls: readonly RecordedCall[], work: PendingDistillation): Promise<Lesson[]> {
    const { writer, mask, logger } = this.#deps;
    const found = lessonsOf(calls, work);
    if (writer === null || calls.length === 0) return found;
    try {
      const written = await writer.write(calls, work, found.slice(0, LESSONS_MAX), this.#stopping.signal);
      const drafts = await mask(
        work.project,
        written.map(({ draft }) => draft),
      );
      return written.flatMap((lesson, place) => {
        const draft = drafts[place];
        return draft === undefined ? [] : [{ ...lesson, draft }];
      });
    } catch (thrown) {
      this.#stopping.signal.throwIfAborted();
      logger.warn('memory.distill_without_model', { message: ContextdError.from(thrown).message });
      return found;
    }
  }
}

function toPending(row: Row): PendingDistillation {
  const ids: unknown = JSON.parse(textOf(row, 'request_ids'));
  const outcome = textOf(row, 'outcome');
  return {
    id: String(integerOf(row, 'seq')),
    project: textOf(row, 'project'),
    requestIds: Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [],
    task: textOf(row, 'task'),
    outcome: outcome === 'success' || outcome === 'failure' || outcome === 'mixed' ? outcome : null,
    askedMs: integerOf(row, 'asked_ms'),
    fault: textOf(row, 'fault'),
  };
}
