/** Max-min fair share: the per-owner cap that keeps the total of `counts` within `max`. Returns `max` if all fit. */
export function fairShare(counts: readonly number[], max: number): number {
  const ascending = counts.toSorted((a, b) => a - b);
  let left = max;
  for (const [i, count] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (count > share) return share;
    left -= count;
  }
  return max;
}
