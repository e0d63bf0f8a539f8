/** The orders of several searches as one. Pure. */

/** How well a memory fits by its words. */
export interface WordMatch {
  readonly id: string;
  readonly relevance: number;
  /** The share of the query's words that it has, from 0 to 1. */
  readonly coverage: number;
}

/** How much meaning counts beside the best match of words when no word of the query was found. */
const MEANING_MOST = 0.8;
/** From this coverage of the best match on, words alone decide. */
const WORDS_DECIDE_FROM = 0.5;
/** Keeps memories without a word in the order of their meaning, behind all others. */
const MEANING_LEAST = 1e-9;

/**
 * Words and meaning as one score: the relevance as a share of the best, and the cosine. The less of the query the best
 * match has, the more the cosine counts; it never turns the order of words around when they say at least half.
 * `cosines`: of each memory of `words`, as far as it has a vector, and of the nearest others.
 */
export function mix(words: readonly WordMatch[], cosines: ReadonlyMap<string, number>): Map<string, number> {
  const best = words.reduce<WordMatch | null>(
    (top, one) => (top === null || one.relevance > top.relevance ? one : top),
    null,
  );
  const share = Math.max(0, 1 - (best?.coverage ?? 0) / WORDS_DECIDE_FROM);
  const weight = Math.max(MEANING_LEAST, MEANING_MOST * share);
  const known = words.flatMap(({ id }) => cosines.get(id) ?? []);
  // A memory that waits for its vector is taken for an ordinary one.
  const usual = known.length === 0 ? 0 : known.reduce((sum, cosine) => sum + cosine, 0) / known.length;
  const scoreOf = (relevance: number, cosine: number): number =>
    (best === null ? 0 : relevance / best.relevance) + weight * Math.max(0, cosine);
  return new Map([
    ...Array.from(cosines, ([id, cosine]): [string, number] => [id, scoreOf(0, cosine)]),
    ...words.map(({ id, relevance }): [string, number] => [id, scoreOf(relevance, cosines.get(id) ?? usual)]),
  ]);
}

/** How slowly a place loses its worth: the constant of reciprocal rank fusion. */
const SMOOTHING = 60;

/**
 * Two orders that count the same. An id that one of them lacks has there the place that it has in the other: a store that
 * does not know it yet says nothing about how well it fits.
 */
export function fuseOrders(one: readonly string[], other: readonly string[]): string[] {
  const [first, second] = [one, other].map((ids) => new Map(ids.map((id, index) => [id, index + 1])));
  const scores = new Map<string, number>();
  for (const id of [...one, ...other]) {
    const [a, b] = [first?.get(id), second?.get(id)];
    scores.set(
      id,
      [a ?? b ?? 0, b ?? a ?? 0].map((place) => 1 / (SMOOTHING + place)).reduce((sum, part) => sum + part),
    );
  }
  return bestFirst(scores);
}

function bestFirst(scores: ReadonlyMap<string, number>): string[] {
  return [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a < b ? -1 : 1)).map(([id]) => id);
}
