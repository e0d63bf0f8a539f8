import type { CatalogItem } from '../item.ts';
import { WordIndex } from './word-index.ts';
import { isStopWord, stemOf, wordsOf } from './words.ts';

export interface RouteOptions {
  /** Items at most. Default 10. */
  topK?: number;
}

/** An item that fits a query. */
export interface Routed {
  readonly item: CatalogItem;
  /** From 0 on. Comparable within one answer only. */
  readonly score: number;
  /** Ids of items that say nearly the same and are not listed themselves, best first. */
  readonly duplicates: readonly string[];
}

/** Finds the items of a catalogue that fit a query. The same items and query give the same answer, in whatever order. */
export class Router {
  readonly #items: readonly CatalogItem[];
  readonly #index: WordIndex;

  /** Ids must be unique. */
  constructor(items: readonly CatalogItem[]) {
    this.#items = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.#index = new WordIndex(this.#items);
  }

  /** Best first; ties in the order of ids. Items that share no word with the query are left out. */
  route(query: string, { topK = 10 }: RouteOptions = {}): Routed[] {
    const scores = new Float64Array(this.#items.length);
    for (const stem of queryStems(query)) {
      const postings = this.#index.postings(stem);
      postings?.items.forEach((item, index) => {
        scores[item] = (scores[item] ?? 0) + (postings.impacts[index] ?? 0);
      });
    }
    return Array.from(scores, (score, index) => ({ score, index }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.index - b.index)
      .slice(0, topK)
      .flatMap(({ score, index }) => {
        const item = this.#items[index];
        return item === undefined ? [] : [{ item, score, duplicates: [] }];
      });
  }
}

function queryStems(query: string): Set<string> {
  const words = wordsOf(query);
  const telling = words.filter((word) => !isStopWord(word));
  return new Set((telling.length > 0 ? telling : words).map(stemOf));
}
