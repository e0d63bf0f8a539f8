import type { CatalogItem } from '../../src/gateway/item.ts';
import { FIELDS, type Field, itemTexts } from '../../src/gateway/router/item-texts.ts';
import { stemOf, wordsOf } from '../../src/gateway/router/words.ts';

const WEIGHTS: Record<Field, number> = { name: 4, namespace: 0, tags: 0, description: 2, arguments: 1 };
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;

/** BM25 and nothing else: what the router is compared with. Words and stems are the router's own. */
export class PlainBm25 {
  readonly #ids: string[] = [];
  readonly #postings = new Map<string, [item: number, weight: number][]>();

  constructor(items: readonly CatalogItem[]) {
    const lengths: number[] = [];
    items.forEach((item, number) => {
      this.#ids.push(item.id);
      const counts = countsOf(item);
      lengths.push([...counts.values()].reduce((sum, count) => sum + count, 0));
      for (const [stem, count] of counts) {
        const list = this.#postings.get(stem) ?? [];
        list.push([number, count]);
        this.#postings.set(stem, list);
      }
    });
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    for (const list of this.#postings.values()) {
      const rarity = Math.log(1 + (items.length - list.length + 0.5) / (list.length + 0.5));
      for (const posting of list) {
        const [item, count] = posting;
        const slowness = SATURATION * (1 - LENGTH_PENALTY + (LENGTH_PENALTY * (lengths[item] ?? 0)) / mean);
        posting[1] = (rarity * count) / (count + slowness);
      }
    }
  }

  search(query: string, topK: number): string[] {
    const scores = new Map<number, number>();
    for (const stem of new Set(wordsOf(query).map(stemOf)))
      for (const [item, weight] of this.#postings.get(stem) ?? []) scores.set(item, (scores.get(item) ?? 0) + weight);
    return [...scores]
      .sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b)
      .slice(0, topK)
      .map(([item]) => this.#ids[item] ?? '');
  }
}

function countsOf(item: CatalogItem): Map<string, number> {
  const texts = itemTexts(item);
  const counts = new Map<string, number>();
  for (const field of FIELDS) {
    if (WEIGHTS[field] === 0) continue;
    for (const word of texts[field].flatMap(wordsOf)) {
      const stem = stemOf(word);
      counts.set(stem, (counts.get(stem) ?? 0) + WEIGHTS[field]);
    }
  }
  return counts;
}
