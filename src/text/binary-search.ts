/**
 * Returns the first index in `[low, high)` for which `isPast` holds, or `high` if it holds for none. `isPast` must be
 * monotonic: once true, true for every later index.
 */
export function firstIndex(low: number, high: number, isPast: (index: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (isPast(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
