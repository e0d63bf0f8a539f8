/** Groups of similar things by their sets of words. Pure. */
import { jaccard } from '../number-sets.ts';

/** What is grouped, in an order that does not depend on how it was added. */
export interface Bag {
  /** Distinct words as numbers, ascending. */
  readonly words: Uint32Array;
}

/**
 * At most `count` groups: the first seed is the first bag, each next one the bag that is least similar to all seeds so
 * far, and every bag joins the seed that it is most similar to. Ties go to the earlier bag and to the earlier seed.
 */
export function clusterBags<T extends Bag>(bags: readonly T[], count: number): T[][] {
  const groups: T[][] = [];
  const nearest = new Float64Array(bags.length).fill(-1);
  const groupOf = new Uint32Array(bags.length);
  for (let seed = 0; groups.length < count && seed >= 0; seed = farthest(nearest)) {
    const words = bags[seed]?.words ?? new Uint32Array();
    bags.forEach((bag, index) => {
      const likeness = index === seed ? 2 : jaccard(bag.words, words);
      if (likeness <= (nearest[index] ?? 0)) return;
      nearest[index] = likeness;
      groupOf[index] = groups.length;
    });
    groups.push([]);
  }
  bags.forEach((bag, index) => {
    groups[groupOf[index] ?? 0]?.push(bag);
  });
  return groups.filter((group) => group.length > 0);
}

/** The first bag with the least likeness to its seed; -1 if each has the words of a seed. */
function farthest(nearest: Float64Array): number {
  let [at, least] = [-1, 1];
  nearest.forEach((likeness, index) => {
    if (likeness < least) [at, least] = [index, likeness];
  });
  return at;
}
