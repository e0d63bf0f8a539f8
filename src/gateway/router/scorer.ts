import type { Query, Term } from './query.ts';
import { Variants } from './variants.ts';
import type { WordIndex } from './word-index.ts';

/** How much the best clause counts beside the whole query. */
const CLAUSE_SHARE = 0.5;

/** How much a word says about which items by what was executed after it, from 0 to 1. */
export type Learned = (stem: string) => readonly (readonly [item: number, share: number])[];

/** Why an item has the score that it has: one word of the query. */
export interface Reason {
  /** The stem of the word of the query. */
  readonly term: string;
  /** The stem of the item that stands for it. "": the item was executed after the word. */
  readonly found: string;
  readonly gain: number;
}

/** How well items fit the words of a query. One query at a time: the arrays are used again. */
export class Scorer {
  readonly #index: WordIndex;
  readonly #variants: Variants;
  readonly #whole: Sums;
  readonly #clause: Sums;
  readonly #best: Sums;
  readonly #group: Sums;

  constructor(index: WordIndex, size: number) {
    this.#index = index;
    this.#variants = new Variants(index);
    const [whole, clause, best, group] = [new Sums(size), new Sums(size), new Sums(size), new Sums(size)];
    [this.#whole, this.#clause, this.#best, this.#group] = [whole, clause, best, group];
  }

  /** The scores of all items that have a word of the query, from 0 to 1. They hold until the next query. */
  score({ terms, clauses }: Query, learned: Learned): Sums {
    this.#whole.clear();
    this.#addTerms(terms, this.#whole, learned);
    this.#whole.scale(1 / (this.#whole.greatest() || 1));
    if (clauses.length === 0) return this.#whole;
    this.#best.clear();
    for (const clause of clauses) {
      this.#clause.clear();
      this.#addTerms(clause, this.#clause, learned);
      // Long clauses reach higher sums. The root lets a clause that fits well win over a longer one that fits less.
      this.#clause.scale(1 / Math.sqrt(this.#clause.greatest() || 1));
      this.#best.raiseTo(this.#clause);
    }
    this.#best.scale(CLAUSE_SHARE / (this.#best.greatest() || 1));
    this.#whole.addAll(this.#best);
    this.#whole.scale(1 / (1 + CLAUSE_SHARE));
    return this.#whole;
  }

  /** What each term of a query adds to an item, before its sum is made a share of the best. */
  reasons(terms: readonly Term[], item: number, learned: Learned): Reason[] {
    return terms.flatMap((term) => {
      const found = this.#variants.of(term).flatMap(({ stem, certainty }) => {
        const postings = this.#index.postings(stem);
        const at = postings === null ? -1 : postings.items.indexOf(item);
        const impact = at < 0 ? 0 : (postings?.impacts[at] ?? 0);
        return { term: term.stem, found: stem, gain: term.weight * certainty * (postings?.rarity ?? 0) * impact };
      });
      const share = learned(term.stem).find(([one]) => one === item)?.[1] ?? 0;
      found.push({ term: term.stem, found: '', gain: term.weight * this.#index.rarity(term.stem) * share });
      const best = found.reduce((top, one) => (one.gain > top.gain ? one : top));
      return best.gain > 0 ? [best] : [];
    });
  }

  /** The share of the words of a query, by their rarity, that an item has. */
  coverage(terms: readonly Term[], item: number, learned: Learned): number {
    const has = new Set(this.reasons(terms, item, learned).map(({ term }) => term));
    const rarityOf = (some: readonly Term[]): number =>
      some.reduce((sum, { stem }) => sum + this.#index.rarity(stem), 0);
    return rarityOf(terms.filter(({ stem }) => has.has(stem))) / (rarityOf(terms) || 1);
  }

  /** Of the variants of a term, only the one that says most about an item counts for it. */
  #addTerms(terms: readonly Term[], sums: Sums, learned: Learned): void {
    for (const term of terms) {
      this.#group.clear();
      for (const { stem, certainty } of this.#variants.of(term)) {
        const postings = this.#index.postings(stem);
        if (postings === null) continue;
        const { items, impacts, rarity } = postings;
        const factor = term.weight * certainty * rarity;
        for (let at = 0; at < items.length; at++) this.#group.raise(items[at] ?? 0, factor * (impacts[at] ?? 0));
      }
      const rarity = this.#index.rarity(term.stem);
      for (const [item, share] of learned(term.stem)) this.#group.raise(item, term.weight * rarity * share);
      sums.addAll(this.#group);
    }
  }
}

/** A number for each item, of which most are 0. */
export class Sums {
  readonly values: Float64Array;
  readonly #touched: Uint32Array;
  #count = 0;

  constructor(size: number) {
    this.values = new Float64Array(size);
    this.#touched = new Uint32Array(size);
  }

  /** The items whose number is not 0. */
  get touched(): Uint32Array {
    return this.#touched.subarray(0, this.#count);
  }

  clear(): void {
    for (const item of this.touched) this.values[item] = 0;
    this.#count = 0;
  }

  raise(item: number, to: number): void {
    const before = this.values[item] ?? 0;
    if (to <= before) return;
    if (before === 0) this.#touched[this.#count++] = item;
    this.values[item] = to;
  }

  add(item: number, more: number): void {
    this.raise(item, (this.values[item] ?? 0) + more);
  }

  addAll(other: Sums): void {
    for (const item of other.touched) this.add(item, other.values[item] ?? 0);
  }

  raiseTo(other: Sums): void {
    for (const item of other.touched) this.raise(item, other.values[item] ?? 0);
  }

  scale(factor: number): void {
    for (const item of this.touched) this.values[item] = (this.values[item] ?? 0) * factor;
  }

  greatest(): number {
    let most = 0;
    for (const item of this.touched) most = Math.max(most, this.values[item] ?? 0);
    return most;
  }
}
