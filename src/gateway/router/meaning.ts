import type { CatalogItem } from '../item.ts';
import { wordsOf } from './words.ts';

/** What a model says of a query and of items, as a second opinion beside words. All vectors are of one model. */
export interface Meaning {
  readonly query: Float32Array;
  /** By id. Items may lack one. */
  readonly vectors: ReadonlyMap<string, Float32Array>;
}

/** Characters of an item that a model reads: most read no more than 256 tokens. */
const TEXT_MAX_CHARS = 600;

/** What of an item a model embeds. */
export function textToEmbed({ name, description }: Pick<CatalogItem, 'name' | 'description'>): string {
  return `${wordsOf(name).join(' ')}: ${description}`.slice(0, TEXT_MAX_CHARS);
}

/** Keeps items without a word of the query in the order of their meaning, behind all others. */
const MEANING_LEAST = 1e-9;

/**
 * How much the cosine counts beside the score by words, which is 1 for the best match: the share of the query that words do
 * not explain. `coverage`: the share of the query's words, by their rarity, that the best match has.
 */
export function meaningWeight(coverage: number): number {
  return Math.max(MEANING_LEAST, 1 - coverage);
}

/** The cosine of each item with a query, at least 0. An item without a vector is taken for an ordinary one. */
export function cosinesOf(vectors: readonly (Float32Array | undefined)[], query: Float32Array): Float64Array {
  const length = norm(query);
  const cosines = Float64Array.from(vectors, (vector) => (vector === undefined ? Number.NaN : dot(vector, query)));
  vectors.forEach((vector, item) => {
    if (vector !== undefined) cosines[item] = Math.max(0, (cosines[item] ?? 0) / (norm(vector) * length || 1));
  });
  const known = cosines.filter((cosine) => !Number.isNaN(cosine));
  const usual = known.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, known.length);
  return cosines.map((cosine) => (Number.isNaN(cosine) ? usual : cosine));
}

function norm(vector: Float32Array): number {
  return Math.sqrt(dot(vector, vector));
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
