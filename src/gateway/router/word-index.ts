import type { CatalogItem } from '../item.ts';
import { FIELDS, type Field, itemTexts } from './item-texts.ts';
import { Vocabulary } from './vocabulary.ts';

/** How much a word counts in each part of an item, and how much long parts are set back, from 0 to 1. */
const FIELD_RULES: Record<Field, { weight: number; lengthPenalty: number }> = {
  name: { weight: 4, lengthPenalty: 0.5 },
  namespace: { weight: 1, lengthPenalty: 0 },
  tags: { weight: 1, lengthPenalty: 0 },
  description: { weight: 2, lengthPenalty: 0.75 },
  arguments: { weight: 1, lengthPenalty: 0.75 },
};
/** Weighted occurrences from which more of the same word count less than half. */
const SATURATION = 2;
/** What two items are compared by to see whether they say the same. */
const IDENTITY: readonly Field[] = ['name', 'namespace', 'description'];

/** The items that have a word, and how much it says about each of them. */
export interface Postings {
  readonly items: Uint32Array;
  readonly impacts: Float32Array;
  /** How rare the word is. */
  readonly rarity: number;
}

/** The words of all items, one after another, as numbers. */
interface Texts {
  readonly words: Uint32Array;
  /** Where each field of each item ends. */
  readonly ends: Uint32Array;
}

/** Words to items. Items are numbered by their places in the list that it was built of. */
export class WordIndex {
  readonly #vocabulary = new Vocabulary();
  readonly #starts: Uint32Array;
  readonly #items: Uint32Array;
  readonly #impacts: Float32Array;
  readonly #size: number;
  readonly #names: Sets;
  readonly #identities: Sets;

  constructor(items: readonly CatalogItem[]) {
    this.#size = items.length;
    const texts = read(items, this.#vocabulary);
    this.#names = setsOf(texts, items.length, ['name']);
    this.#identities = setsOf(texts, items.length, IDENTITY);
    [this.#starts, this.#items, this.#impacts] = postingsOf(texts, items.length, this.#vocabulary.size);
    this.#vocabulary.seal();
  }

  /** Null if no item has the word. */
  postings(stem: string): Postings | null {
    const number = this.#vocabulary.find(stem);
    if (number < 0) return null;
    const [from = 0, to = 0] = [this.#starts[number], this.#starts[number + 1]];
    return {
      items: this.#items.subarray(from, to),
      impacts: this.#impacts.subarray(from, to),
      rarity: rarityOf(to - from, this.#size),
    };
  }

  /** How rare a word is, also one that no item has. */
  rarity(stem: string): number {
    return this.postings(stem)?.rarity ?? rarityOf(0, this.#size);
  }

  has(stem: string): boolean {
    return this.#vocabulary.find(stem) >= 0;
  }

  stems(): Iterable<string> {
    return this.#vocabulary.stems();
  }

  /** The distinct words of an item's name, ascending. */
  name(item: number): Uint32Array {
    return this.#names.at(item);
  }

  /** The distinct words of an item's name, namespace and description, ascending. */
  identity(item: number): Uint32Array {
    return this.#identities.at(item);
  }
}

/** A set of numbers for each item, in one array. */
class Sets {
  readonly #starts: Uint32Array;
  readonly #words: Uint32Array;

  constructor(starts: Uint32Array, words: Uint32Array) {
    this.#starts = starts;
    this.#words = words;
  }

  at(item: number): Uint32Array {
    return this.#words.subarray(this.#starts[item] ?? 0, this.#starts[item + 1] ?? 0);
  }
}

function read(items: readonly CatalogItem[], vocabulary: Vocabulary): Texts {
  const words: number[] = [];
  const ends = new Uint32Array(items.length * FIELDS.length);
  items.forEach((item, index) => {
    const texts = itemTexts(item);
    FIELDS.forEach((field, place) => {
      for (const text of texts[field]) vocabulary.read(text, words);
      ends[index * FIELDS.length + place] = words.length;
    });
  });
  return { words: new Uint32Array(words), ends };
}

function fieldOf({ words, ends }: Texts, item: number, field: Field): Uint32Array {
  const at = item * FIELDS.length + FIELDS.indexOf(field);
  return words.subarray(at === 0 ? 0 : ends[at - 1], ends[at]);
}

function setsOf(texts: Texts, size: number, fields: readonly Field[]): Sets {
  const starts = new Uint32Array(size + 1);
  const words: number[] = [];
  for (let item = 0; item < size; item++) {
    const own: number[] = [];
    for (const field of fields) for (const word of fieldOf(texts, item, field)) own.push(word);
    let before = -1;
    for (const word of new Uint32Array(own).sort()) {
      if (word !== before) words.push(word);
      before = word;
    }
    starts[item + 1] = words.length;
  }
  return new Sets(starts, new Uint32Array(words));
}

/** Where the postings of each word start, their items, and their impacts. */
function postingsOf(texts: Texts, size: number, stems: number): [Uint32Array, Uint32Array, Float32Array] {
  const means = FIELDS.map((field) => meanLength(texts, size, field));
  const weights = new Float64Array(stems);
  const weigh = (item: number): number[] => {
    const seen: number[] = [];
    FIELDS.forEach((field, place) => {
      const words = fieldOf(texts, item, field);
      const { weight, lengthPenalty } = FIELD_RULES[field];
      const share = weight / (1 - lengthPenalty + (lengthPenalty * words.length) / (means[place] ?? 1));
      for (const word of words) {
        const before = weights[word] ?? 0;
        if (before === 0) seen.push(word);
        weights[word] = before + share;
      }
    });
    return seen;
  };
  const starts = new Uint32Array(stems + 1);
  for (let item = 0; item < size; item++) {
    for (const word of weigh(item)) {
      starts[word + 1] = (starts[word + 1] ?? 0) + 1;
      weights[word] = 0;
    }
  }
  for (let word = 0; word < stems; word++) starts[word + 1] = (starts[word + 1] ?? 0) + (starts[word] ?? 0);
  const items = new Uint32Array(starts[stems] ?? 0);
  const impacts = new Float32Array(items.length);
  const next = starts.slice();
  for (let item = 0; item < size; item++) {
    for (const word of weigh(item)) {
      const at = next[word] ?? 0;
      const weight = weights[word] ?? 0;
      items[at] = item;
      impacts[at] = weight / (weight + SATURATION);
      next[word] = at + 1;
      weights[word] = 0;
    }
  }
  return [starts, items, impacts];
}

function meanLength(texts: Texts, size: number, field: Field): number {
  let total = 0;
  for (let item = 0; item < size; item++) total += fieldOf(texts, item, field).length;
  return Math.max(1, total / Math.max(1, size));
}

function rarityOf(count: number, size: number): number {
  return Math.log(1 + (size - count + 0.5) / (count + 0.5));
}
