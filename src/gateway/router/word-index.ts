import type { CatalogItem } from '../item.ts';
import { FIELDS, type Field, itemWords } from './item-words.ts';

/** How much a word counts in each part of an item, and how much long parts are set back. */
const WEIGHTS: Record<Field, { weight: number; lengthPenalty: number }> = {
  name: { weight: 4, lengthPenalty: 0.5 },
  namespace: { weight: 1, lengthPenalty: 0 },
  tags: { weight: 1, lengthPenalty: 0 },
  description: { weight: 2, lengthPenalty: 0.6 },
  arguments: { weight: 1, lengthPenalty: 0.75 },
};
/** How soon repeated words stop to count. */
const SATURATION = 2;

/** The items that have a word, and how much it says about each of them. */
export interface Postings {
  readonly items: Uint32Array;
  readonly impacts: Float32Array;
}

/** Words to items. Built once; the numbers of items are their places in the order of ids. */
export class WordIndex {
  readonly #numbers = new Map<string, number>();
  #starts = new Uint32Array();
  #items = new Uint32Array();
  #impacts = new Float32Array();

  constructor(items: readonly CatalogItem[]) {
    this.#fill(items.map(itemWords));
  }

  postings(stem: string): Postings | null {
    const number = this.#numbers.get(stem);
    if (number === undefined) return null;
    const [from = 0, to = 0] = [this.#starts[number], this.#starts[number + 1]];
    return { items: this.#items.subarray(from, to), impacts: this.#impacts.subarray(from, to) };
  }

  #fill(texts: readonly Record<Field, string[]>[]): void {
    const means = new Map(FIELDS.map((field) => [field, meanLength(texts, field)]));
    const counts: number[] = [];
    const perItem = texts.map((text) => {
      const weights = new Map<number, number>();
      for (const field of FIELDS) {
        const { weight, lengthPenalty } = WEIGHTS[field];
        const share = weight / (1 - lengthPenalty + (lengthPenalty * text[field].length) / (means.get(field) ?? 1));
        for (const stem of text[field]) {
          const number = this.#numberOf(stem);
          weights.set(number, (weights.get(number) ?? 0) + share);
        }
      }
      for (const number of weights.keys()) counts[number] = (counts[number] ?? 0) + 1;
      return weights;
    });
    this.#starts = new Uint32Array(counts.length + 1);
    counts.forEach((count, number) => {
      this.#starts[number + 1] = (this.#starts[number] ?? 0) + count;
    });
    const size = this.#starts.at(-1) ?? 0;
    this.#items = new Uint32Array(size);
    this.#impacts = new Float32Array(size);
    const next = this.#starts.slice();
    perItem.forEach((weights, item) => {
      for (const [number, weight] of weights) {
        const at = next[number] ?? 0;
        const count = counts[number] ?? 0;
        this.#items[at] = item;
        this.#impacts[at] = rarity(count, texts.length) * (weight / (weight + SATURATION));
        next[number] = at + 1;
      }
    });
  }

  #numberOf(stem: string): number {
    const number = this.#numbers.get(stem) ?? this.#numbers.size;
    this.#numbers.set(stem, number);
    return number;
  }
}

function meanLength(texts: readonly Record<Field, string[]>[], field: Field): number {
  const total = texts.reduce((sum, text) => sum + text[field].length, 0);
  return Math.max(1, total / Math.max(1, texts.length));
}

function rarity(count: number, items: number): number {
  return Math.log(1 + (items - count + 0.5) / (count + 0.5));
}
