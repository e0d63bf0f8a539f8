import { parseQuery } from './query.ts';

/** What was executed after which queries, as data that can be stored. */
export interface HabitRecord {
  /** Ids of items and how often they were executed. */
  readonly uses: readonly (readonly [id: string, count: number])[];
  /** Words of queries, the least recent first, and what was executed after them. */
  readonly words: readonly (readonly [stem: string, uses: readonly (readonly [id: string, count: number])[]])[];
}

/** Pairs of a word and an item that are kept. Beyond it the words are forgotten that were used least recently. */
const PAIRS_MAX = 20_000;
const USES_MAX = 20_000;
/** The default of `learnedMost`; a word in a name says about as much. */
const LEARNED_MOST = 0.7;
/** Executions after which a habit counts half of what it counts at most. */
const HALF_AT = 2;
/** How much an item gains at most by being used, and by being in a namespace that is used. */
const USE_MOST = 0.1;
const NAMESPACE_MOST = 0.05;

export interface HabitOptions {
  /** How much a word says about an item at most that was executed after it, from 0 to 1. Default 0.7. */
  learnedMost?: number;
}

/** The words of a query under which its choice is remembered, as stems. */
export function wordsToLearn(query: string): string[] {
  return parseQuery(query).terms.map(({ stem }) => stem);
}

/** Learns which items are executed after which words. It raises what fits a query, and never hides an item. */
export class Habits {
  readonly #uses = new Map<string, number>();
  readonly #words = new Map<string, Map<string, number>>();
  readonly #learnedMost: number;
  #pairs = 0;

  constructor(record: HabitRecord = { uses: [], words: [] }, { learnedMost = LEARNED_MOST }: HabitOptions = {}) {
    this.#learnedMost = learnedMost;
    for (const [id, count] of record.uses) this.#uses.set(id, count);
    for (const [stem, counts] of record.words) for (const [id, count] of counts) this.#addPair(stem, id, count);
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  /** Records that an item was executed after a search for `query`. */
  record(query: string, id: string): void {
    this.recordWords(wordsToLearn(query), id);
  }

  /** The same for the words of a query that were kept in its place. */
  recordWords(stems: readonly string[], id: string): void {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.delete(id);
    this.#uses.set(id, uses);
    for (const stem of stems) this.#addPair(stem, id, 1);
    this.#forget();
  }

  /** How much a word of a query says about items by what was executed after it, from 0 to 1, by id. */
  learned(stem: string): [id: string, share: number][] {
    return Array.from(this.#words.get(stem) ?? [], ([id, count]) => [id, this.#learnedMost * half(count)]);
  }

  /** By which factor the score of an item rises. `namespaceUses`: executions of all items of its namespace. */
  prior(id: string, namespaceUses: number): number {
    const own = this.#uses.get(id) ?? 0;
    return 1 + USE_MOST * half(own) + NAMESPACE_MOST * half(Math.max(0, namespaceUses - own));
  }

  /** Executions by group. `groupOf`: undefined for an id that no longer exists. */
  usesByGroup(groupOf: (id: string) => string | undefined): Map<string, number> {
    const groups = new Map<string, number>();
    for (const [id, count] of this.#uses) {
      const group = groupOf(id);
      if (group !== undefined) groups.set(group, (groups.get(group) ?? 0) + count);
    }
    return groups;
  }

  clear(): void {
    this.#uses.clear();
    this.#words.clear();
    this.#pairs = 0;
  }

  toRecord(): HabitRecord {
    return { uses: [...this.#uses], words: Array.from(this.#words, ([stem, counts]) => [stem, [...counts]]) };
  }

  #addPair(stem: string, id: string, count: number): void {
    const counts = this.#words.get(stem) ?? new Map<string, number>();
    if (!counts.has(id)) this.#pairs += 1;
    counts.set(id, (counts.get(id) ?? 0) + count);
    // At the end: maps keep the order in which keys were added.
    this.#words.delete(stem);
    this.#words.set(stem, counts);
  }

  #forget(): void {
    for (const [stem, counts] of this.#words) {
      if (this.#pairs <= PAIRS_MAX) break;
      this.#words.delete(stem);
      this.#pairs -= counts.size;
    }
    for (const id of this.#uses.keys()) {
      if (this.#uses.size <= USES_MAX) break;
      this.#uses.delete(id);
    }
  }
}

function half(count: number): number {
  return count / (count + HALF_AT);
}
