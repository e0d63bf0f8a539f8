/** Weighted reciprocal rank fusion. Pure. */

/** One order of ids, the best first, and how much it counts. */
export interface RankedList {
  readonly ids: readonly string[];
  readonly weight: number;
}

/** How slowly a place loses its worth: the constant of the paper. */
const SMOOTHING = 60;
/** Found by words counts twice: on lessons and code no small model ranks better than BM25. */
export const WORDS_WEIGHT = 2;
export const MEANING_WEIGHT = 1;

/** Each id once, by the sum of weight / (60 + place) over the lists, places from 1; then by id. */
export function fuse(lists: readonly RankedList[]): string[] {
  const scores = new Map<string, number>();
  for (const { ids, weight } of lists) {
    ids.forEach((id, index) => {
      scores.set(id, (scores.get(id) ?? 0) + weight / (SMOOTHING + index + 1));
    });
  }
  return bestFirst(scores);
}

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
