import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, textOf } from '../../stores/sqlite.ts';
import type { MemoryOutcome } from './item.ts';
import { type Lift, liftOf, type Trials } from './lift.ts';

/** What is known of one memory. Open sessions are those whose outcome is not known yet. */
export interface MemoryLift extends Lift {
  readonly id: string;
  readonly title: string;
  readonly shown: Trials & { readonly open: number };
  readonly heldOut: Trials & { readonly open: number };
}

export interface RetrievalsDeps {
  /** The memory database. */
  database: Database;
  /** Config.memory.holdout: from 0 to 0.5. */
  share: number;
  clock: Clock;
  logger: Logger;
}

/** Retrievals that are kept; the oldest are dropped. */
const RETRIEVALS_MAX = 200_000;

/**
 * Holds out a share of the memories that are found, so that work with a memory can be compared with work without it. The
 * unit is a memory in a session: what a session does not see, no search of that session shows.
 */
export class Retrievals {
  readonly #deps: RetrievalsDeps;

  constructor(deps: RetrievalsDeps) {
    this.#deps = deps;
  }

  get share(): number {
    return this.#deps.share;
  }

  /** Records what a search found, and returns the ids that this session must not see. `session`: its tag. */
  async divide(session: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { share, logger } = this.#deps;
    if (share === 0 || ids.length === 0) return new Set();
    const heldOut = new Set(ids.filter((id) => chanceOf(session, id) < share));
    try {
      await this.#record(session, ids, heldOut);
    } catch (thrown) {
      // The search has its answer.
      logger.warn('memory.retrieval_not_recorded', { message: ContextdError.from(thrown).message });
    }
    return heldOut;
  }

  async #record(session: string, ids: readonly string[], heldOut: ReadonlySet<string>): Promise<void> {
    const { database, clock } = this.#deps;
    const found = ids.map((id) => ({ id, held: heldOut.has(id) ? 1 : 0 }));
    await database.write([
      {
        sql: `INSERT OR IGNORE INTO retrievals (item, session, is_held_out, at_ms)
          SELECT items.id, ?2, found.value ->> 'held', ?3
          FROM json_each(?1) found JOIN items ON items.id = found.value ->> 'id'`,
        params: [JSON.stringify(found), session, clock.now()],
      },
      {
        sql: 'DELETE FROM retrievals WHERE seq <= (SELECT max(seq) FROM retrievals) - ?',
        params: [RETRIEVALS_MAX],
      },
    ]);
  }

  /** How the work of a session went: the outcome of everything that it found since it last said so, seen or not. */
  async settle(session: string, outcome: MemoryOutcome): Promise<void> {
    await this.#deps.database.write([
      {
        sql: 'UPDATE retrievals SET outcome = ? WHERE session = ? AND outcome IS NULL',
        params: [outcome, session],
      },
    ]);
  }

  /** The memories of a project and the global ones that were found while some were held out; none if `ids` names others. */
  async report(project: string, ids: readonly string[]): Promise<MemoryLift[]> {
    const rows = await this.#deps.database.read(
      `SELECT items.id AS id, items.title AS title,
          ${countsOf('shown', 0)}, ${countsOf('held', 1)}
        FROM retrievals JOIN items ON items.id = retrievals.item
        WHERE (items.project = ?1 OR items.scope = 'global')
          AND (?2 = '[]' OR items.id IN (SELECT value FROM json_each(?2)))
        GROUP BY items.id`,
      project,
      JSON.stringify(ids),
    );
    const lifts = rows.map((row) => {
      const [shown, heldOut] = (['shown', 'held'] as const).map((kind) => ({
        count: integerOf(row, `${kind}_count`),
        good: integerOf(row, `${kind}_good`),
        open: integerOf(row, `${kind}_open`),
      }));
      if (shown === undefined || heldOut === undefined) throw new Error('a row without counts');
      return { id: textOf(row, 'id'), title: textOf(row, 'title'), shown, heldOut, ...liftOf(shown, heldOut) };
    });
    return lifts.sort((a, b) => a.high - a.low - (b.high - b.low) || (a.id < b.id ? -1 : 1));
  }
}

function countsOf(kind: string, isHeldOut: 0 | 1): string {
  const of = `FILTER (WHERE is_held_out = ${isHeldOut})`;
  const value = `CASE retrievals.outcome WHEN 'success' THEN 1.0 WHEN 'mixed' THEN 0.5 ELSE 0.0 END`;
  return `count(retrievals.outcome) ${of} AS ${kind}_count, coalesce(sum(${value}) ${of}, 0.0) AS ${kind}_good,
    count(*) ${of} - count(retrievals.outcome) ${of} AS ${kind}_open`;
}

/** From 0 up to 1: the same for a memory in a session at any time, and like a random number over sessions. */
function chanceOf(session: string, id: string): number {
  return createHash('sha256').update(`${session} ${id}`).digest().readUInt32BE(0) / 2 ** 32;
}
