/** Sets of numbers as ascending arrays without duplicates. Pure. */

/** The share of numbers that two sets have in common, from 0 to 1. Two empty sets are the same. */
export function jaccard(one: Uint32Array, other: Uint32Array): number {
  const common = countCommon(one, other);
  const all = one.length + other.length - common;
  return all === 0 ? 1 : common / all;
}

/** True if one of two sets has all numbers of the other. */
export function isNested(one: Uint32Array, other: Uint32Array): boolean {
  return countCommon(one, other) === Math.min(one.length, other.length);
}

function countCommon(one: Uint32Array, other: Uint32Array): number {
  let [i, j, common] = [0, 0, 0];
  while (i < one.length && j < other.length) {
    const a = one[i] ?? 0;
    const b = other[j] ?? 0;
    if (a === b) common += 1;
    if (a <= b) i += 1;
    if (b <= a) j += 1;
  }
  return common;
}
