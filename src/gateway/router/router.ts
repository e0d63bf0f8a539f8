import type { CatalogItem } from '../item.ts';
import { BestFirst, type Candidate } from './best-first.ts';
import { isDuplicate } from './duplicates.ts';
import { Habits } from './habits.ts';
import { type Field, fieldsWith } from './item-texts.ts';
import { cosinesOf, type Meaning, meaningWeight } from './meaning.ts';
import { parseQuery, type Query } from './query.ts';
import { type Learned, Scorer } from './scorer.ts';
import { WordIndex } from './word-index.ts';

export interface RouterOptions {
  /** What was executed before. Records that are added later count from the next query on. */
  habits?: Habits;
}

export interface RouteOptions {
  /** Items at most. Default 10. */
  topK?: number;
  /** Default: words alone decide. */
  meaning?: Meaning | undefined;
}

/** An item that fits a query. */
export interface Routed {
  readonly item: CatalogItem;
  /** From 0 on, 1 for an item that fits best in every respect. Comparable within one answer only. */
  readonly score: number;
  /** Items that say nearly the same and are not listed themselves, in the order of their scores. */
  readonly duplicates: readonly CatalogItem[];
}

/** Why an item has its score for a query. */
export interface Explanation {
  readonly item: CatalogItem;
  readonly score: number;
  /** From 1 on, copies included. */
  readonly place: number;
  /** What counted, most first. */
  readonly words: readonly ExplainedWord[];
  /** Clauses of the query that were also looked at alone. 0: it has only one. */
  readonly clauses: number;
  /** By which factor use raised the score. */
  readonly prior: number;
}

interface ExplainedWord {
  /** The word of the query, as its stem. */
  readonly word: string;
  /** The word of the item, as its stem. "": the item was executed after the word. */
  readonly found: string;
  readonly fields: readonly Field[];
  /** Its part of the score by words, from 0 to 1. */
  readonly share: number;
}

interface Found extends Candidate {
  readonly duplicates: readonly number[];
}

/** The scores of the items of a query. They hold until the next query. */
interface Scores {
  /** All items that may have one. */
  readonly items: Iterable<number>;
  of(item: number): number;
}

const TOP_K = 10;
/** Candidates that are looked at for each listed item: copies of one tool may take the places of many. */
const CANDIDATES_PER_ITEM = 40;

/** Finds the items of a catalogue that fit a query. The same items and query give the same answer, in whatever order. */
export class Router {
  readonly #items: readonly CatalogItem[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #index: WordIndex;
  readonly #scorer: Scorer;
  readonly #habits: Habits;

  /** Ids must be unique. */
  constructor(items: readonly CatalogItem[], { habits = new Habits() }: RouterOptions = {}) {
    this.#items = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.#numbers = new Map(this.#items.map(({ id }, index) => [id, index]));
    this.#index = new WordIndex(this.#items);
    this.#scorer = new Scorer(this.#index, items.length);
    this.#habits = habits;
  }

  /** Best first; ties in the order of ids. Items that share no word with the query are left out, or follow with a meaning. */
  route(text: string, { topK = TOP_K, meaning }: RouteOptions = {}): Routed[] {
    const query = parseQuery(text);
    const words = this.#byWords(query);
    const scores = meaning === undefined ? words : this.#withMeaning(query, words, meaning);
    return this.#collapse(best(scores, topK * CANDIDATES_PER_ITEM), topK, words).map(({ item, score, duplicates }) => ({
      item: this.#at(item),
      score,
      duplicates: duplicates.map((one) => this.#at(one)),
    }));
  }

  /** Why an item has its score. Undefined if the catalogue has no such item, or if it shares no word with the query. */
  explain(text: string, id: string): Explanation | undefined {
    const number = this.#numbers.get(id);
    if (number === undefined) return undefined;
    const query = parseQuery(text);
    const ranked = best(this.#byWords(query), this.#items.length);
    const score = ranked.find(({ item }) => item === number)?.score;
    if (score === undefined) return undefined;
    const item = this.#at(number);
    const reasons = this.#scorer.reasons(query.terms, number, this.#learned);
    const total = reasons.reduce((sum, { gain }) => sum + gain, 0);
    return {
      item,
      score,
      place: ranked.findIndex((one) => one.item === number) + 1,
      words: reasons
        .map(({ term, found, gain }) => ({ word: term, found, fields: fieldsWith(item, found), share: gain / total }))
        .sort((a, b) => b.share - a.share || (a.word < b.word ? -1 : 1)),
      clauses: query.clauses.length,
      prior: this.#priors()(number),
    };
  }

  #byWords(query: Query): Scores {
    const { touched, values } = this.#scorer.score(query, this.#learned);
    const priors = this.#priors();
    return { items: touched, of: (item) => (values[item] ?? 0) * priors(item) };
  }

  #withMeaning({ terms }: Query, words: Scores, { query, vectors }: Meaning): Scores {
    const weight = meaningWeight(this.#scorer.coverage(terms, best(words, 1)[0]?.item ?? 0, this.#learned));
    const cosines = cosinesOf(
      this.#items.map(({ id }) => vectors.get(id)),
      query,
    );
    const priors = this.#priors();
    return {
      items: this.#items.keys(),
      of: (item) => words.of(item) + weight * (cosines[item] ?? 0) * priors(item),
    };
  }

  readonly #learned: Learned = (stem) =>
    this.#habits.learned(stem).flatMap(([id, share]) => {
      const item = this.#numbers.get(id);
      return item === undefined ? [] : [[item, share] as const];
    });

  #priors(): (item: number) => number {
    if (this.#habits.isEmpty) return () => 1;
    const namespaces = this.#habits.usesByGroup((id) => {
      const item = this.#numbers.get(id);
      return item === undefined ? undefined : this.#at(item).namespace;
    });
    return (item) => {
      const { id, namespace } = this.#at(item);
      return this.#habits.prior(id, namespace === '' ? 0 : (namespaces.get(namespace) ?? 0));
    };
  }

  /** Of copies the one that fits best by words is listed: what a model sees between them is chance. */
  #collapse(ranked: readonly Candidate[], topK: number, words: Scores): Found[] {
    const found: { first: Candidate; copies: number[] }[] = [];
    for (const candidate of ranked) {
      const same = found.find(({ first }) => this.#isCopy(candidate.item, first.item));
      if (same !== undefined) same.copies.push(candidate.item);
      else if (found.length < topK) found.push({ first: candidate, copies: [] });
    }
    return found.map(({ first: { item, score }, copies }) => {
      const [listed = item, ...duplicates] = [item, ...copies].sort((a, b) => words.of(b) - words.of(a) || a - b);
      return { item: listed, score, duplicates };
    });
  }

  /** What another server offers is never a copy: a person may trust the one and not the other. */
  #isCopy(candidate: number, better: number): boolean {
    return this.#at(candidate).namespace === this.#at(better).namespace && isDuplicate(this.#index, candidate, better);
  }

  #at(item: number): CatalogItem {
    const found = this.#items[item];
    if (found === undefined) throw new RangeError(`no item ${item}`);
    return found;
  }
}

function best({ items, of }: Scores, most: number): Candidate[] {
  const first = new BestFirst(most);
  for (const item of items) {
    const score = of(item);
    if (score > 0) first.offer(item, score);
  }
  return first.candidates();
}
