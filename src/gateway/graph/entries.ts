import type { CatalogItem } from '../item.ts';
import { Vocabulary } from '../router/vocabulary.ts';
import { isStopWord, stemOf, wordsOf } from '../router/words.ts';
import type { Bag } from './clusters.ts';
import { slugOf } from './path.ts';

/** An item and the words by which it is grouped. */
export interface Entry extends Bag {
  readonly item: CatalogItem;
  /** Its name as a segment; "" if no character can be kept. */
  readonly slug: string;
  /** The distinct words of its name that can name a group: the stem, and the segment. */
  readonly names: ReadonlyMap<string, string>;
}

/** Entries in the order of their ids, so that the graph does not depend on the order in which items were added. */
export function entriesOf(items: readonly CatalogItem[]): Entry[] {
  const vocabulary = new Vocabulary();
  const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const texts = sorted.map((item) => {
    const words: number[] = [];
    for (const text of [item.name, ...item.tags, item.description, item.details ?? '']) vocabulary.read(text, words);
    return new Set(words);
  });
  const isTelling = Array.from(vocabulary.stems(), (stem) => !isStopWord(stem));
  return sorted.map((item, index) => {
    const words = [...(texts[index] ?? [])].filter((word) => isTelling[word]);
    return { item, slug: slugOf(item.name), names: namesOf(item), words: Uint32Array.from(words).sort() };
  });
}

function namesOf({ name }: CatalogItem): Map<string, string> {
  const names = new Map<string, string>();
  for (const word of wordsOf(name)) {
    const stem = stemOf(word);
    const segment = slugOf(word);
    if (segment !== '' && !isStopWord(word) && !names.has(stem)) names.set(stem, segment);
  }
  return names;
}
