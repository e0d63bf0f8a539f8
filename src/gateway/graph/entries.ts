import type { CatalogItem } from '../item.ts';
import { isStopWord, stemOf, wordsOf } from '../router/words.ts';
import type { Bag } from './clusters.ts';

/** An item and the words by which it is grouped. */
export interface Entry extends Bag {
  readonly item: CatalogItem;
}

/** Entries in the order of their ids, so that the graph does not depend on the order in which items were added. */
export function entriesOf(items: readonly CatalogItem[]): Entry[] {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  return items
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((item) => {
      const words = wordsOf(`${item.name} ${item.tags.join(' ')} ${item.description}`);
      const telling = new Set(words.filter((word) => !isStopWord(word)).map(stemOf));
      return { item, words: Uint32Array.from(telling, numberOf).sort() };
    });
}
