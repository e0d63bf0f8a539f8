/** Texts as sparse vectors, whose scalar product ranks as BM25 does once the server has put in how rare each word is. Pure. */
import { stemmer } from 'stemmer';
import type { MemoryDraft } from '../item.ts';
import { indexWords } from '../query.ts';

/** Words as numbers of 32 bits, ascending and each once, with a weight for each. */
export interface SparseVector {
  readonly indices: number[];
  readonly values: number[];
}

/** How much a word counts in each field, as in the local index. */
const WEIGHTS = { title: 4, tags: 3, task: 3, description: 2, content: 1, context: 0.4 } as const;
/** BM25: how soon repeated words stop to count, and how much long texts are set back. */
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;
/** Weighted words of a usual memory. No writer knows the mean of all. */
const USUAL_LENGTH = 200;

export function documentVector(draft: MemoryDraft): SparseVector {
  const { title, tags, task, description, content, context } = draft;
  const fields = { title, tags: tags.join(' '), task, description, content, context };
  const counts = new Map<number, number>();
  let length = 0;
  for (const [name, weight] of Object.entries(WEIGHTS)) {
    for (const word of indexWords(fields[name as keyof typeof WEIGHTS])) {
      const index = indexOfWord(word);
      counts.set(index, (counts.get(index) ?? 0) + weight);
      length += weight;
    }
  }
  const slowness = SATURATION * (1 - LENGTH_PENALTY + (LENGTH_PENALTY * length) / USUAL_LENGTH);
  return vectorOf([...counts].map(([index, count]) => [index, (count * (SATURATION + 1)) / (count + slowness)]));
}

/** Each word counts once; the server weighs it by how rare it is. */
export function queryVector(words: readonly string[]): SparseVector {
  return vectorOf([...new Set(words.map(indexOfWord))].map((index) => [index, 1]));
}

function vectorOf(entries: [index: number, value: number][]): SparseVector {
  const sorted = entries.sort(([a], [b]) => a - b);
  return { indices: sorted.map(([index]) => index), values: sorted.map(([, value]) => value) };
}

/** FNV-1a over the stem, mixed once more: of a hundred thousand words about one shares its number with another. */
function indexOfWord(word: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(stemOf(word))) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** As the local index does: without accents, and English words by their stem. */
function stemOf(word: string): string {
  const plain = word.normalize('NFD').replace(/\p{M}+/gu, '');
  return /^[a-z]+$/.test(plain) ? stemmer(plain) : plain;
}
