import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import type { MemoryOutcome } from './item.ts';
import { WEAK } from './learn.ts';
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

/** Who wrote a memory: a person, an agent or a tool; contextd, from recorded calls; or another place. */
const MEMORY_KINDS = ['written', 'distilled', 'imported'] as const;
type MemoryKind = (typeof MEMORY_KINDS)[number];

/** What is known of all memories of a kind, from sessions that found some of them. */
export interface KindLift extends Lift {
  readonly kind: MemoryKind;
  /** Sessions that reported an outcome, whose outcome only the record shows, and that have none. */
  readonly reported: number;
  readonly weak: number;
  readonly open: number;
  readonly shown: Trials;
  readonly heldOut: Trials;
}

/** Retrievals that are kept; the oldest are dropped. */
const RETRIEVALS_MAX = 200_000;
const READS_KEPT_MS = 31 * 24 * 60 * 60 * 1_000;
const VALUES: Readonly<Record<MemoryOutcome, number>> = { success: 1, mixed: 0.5, failure: 0 };

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

  /** How the work of a session seems to have gone, for what it found and has not reported about. */
  async settleWeakly(session: string, outcome: MemoryOutcome): Promise<void> {
    await this.#deps.database.write([
      {
        sql: `UPDATE retrievals SET weak_good = weak_good + ?, weak_count = weak_count + 1
          WHERE session = ? AND outcome IS NULL`,
        params: [VALUES[outcome], session],
      },
    ]);
  }

  /** Remembers whose contents a session has read. */
  async noteReads(session: string, ids: readonly string[]): Promise<void> {
    const nowMs = this.#deps.clock.now();
    await this.#deps.database.write([
      { sql: 'DELETE FROM reads WHERE at_ms < ?', params: [nowMs - READS_KEPT_MS] },
      {
        sql: `INSERT OR IGNORE INTO reads (session, item, at_ms)
          SELECT ?1, id, ?3 FROM items WHERE id IN (SELECT value FROM json_each(?2))`,
        params: [session, JSON.stringify(ids), nowMs],
      },
    ]);
  }

  /** Ids of the memories whose contents a session has read. */
  async readsOf(session: string): Promise<string[]> {
    const rows = await this.#deps.database.read('SELECT item FROM reads WHERE session = ?', session);
    return rows.map((row) => textOf(row, 'item'));
  }

  /**
   * What memories of each kind change together. A session counts once for a kind, in the share in which it saw what it found; an
   * outcome that only the record shows counts `WEAK`.
   */
  async reportKinds(project: string): Promise<KindLift[]> {
    const rows = await this.#deps.database.read(
      `SELECT CASE WHEN is_distilled = 1 THEN 'distilled' WHEN origin = 'import' THEN 'imported' ELSE 'written' END AS kind,
          count(*) AS found, sum(is_held_out) AS held, count(retrievals.outcome) AS reported,
          avg(CASE retrievals.outcome WHEN 'success' THEN 1.0 WHEN 'mixed' THEN 0.5 WHEN 'failure' THEN 0.0 END) AS good,
          sum(weak_count) AS weak, sum(weak_good) AS weak_good
        FROM retrievals JOIN items ON items.id = retrievals.item WHERE items.project = ?1 OR items.scope = 'global'
        GROUP BY kind, retrievals.session`,
      project,
    );
    const sessions = rows.map((row) => ({
      kind: textOf(row, 'kind'),
      heldOut: integerOf(row, 'held') / integerOf(row, 'found'),
      ...outcomeOfSession(row),
    }));
    return MEMORY_KINDS.map((kind) =>
      kindLift(
        kind,
        sessions.filter((one) => one.kind === kind),
      ),
    );
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

/** How a session went, and how much that counts; 0 if it is not known. */
function outcomeOfSession(row: Row): { value: number; weight: number } {
  if (integerOf(row, 'reported') > 0) return { value: integerOf(row, 'good'), weight: 1 };
  const weak = integerOf(row, 'weak');
  return weak === 0 ? { value: 0, weight: 0 } : { value: integerOf(row, 'weak_good') / weak, weight: WEAK };
}

function kindLift(kind: MemoryKind, sessions: readonly { heldOut: number; value: number; weight: number }[]): KindLift {
  const trials = (shareOf: (heldOut: number) => number): Trials => ({
    count: sessions.reduce((sum, { heldOut, weight }) => sum + shareOf(heldOut) * weight, 0),
    good: sessions.reduce((sum, { heldOut, weight, value }) => sum + shareOf(heldOut) * weight * value, 0),
  });
  const [shown, heldOut] = [trials((share) => 1 - share), trials((share) => share)];
  const count = (weight: number) => sessions.filter((one) => one.weight === weight).length;
  return { kind, reported: count(1), weak: count(WEAK), open: count(0), shown, heldOut, ...liftOf(shown, heldOut) };
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
