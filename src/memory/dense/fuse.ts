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
  return [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a < b ? -1 : 1)).map(([id]) => id);
}
