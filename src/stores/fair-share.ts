/** The most that each may have so that all together have no more than `max`: those with less leave the rest to the others. */
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
