import { isNested, jaccard } from '../number-sets.ts';
import type { WordIndex } from './word-index.ts';

/** From this share of common words on, two items say the same. */
const SAME_FROM = 0.6;

/**
 * Whether a candidate says the same as an item that fits better. Their names must not differ by more than words that one
 * of them adds: `start_vm` and `stop_vm` share a description, and are two things.
 */
export function isDuplicate(index: WordIndex, candidate: number, better: number): boolean {
  return (
    isNested(index.name(candidate), index.name(better)) &&
    jaccard(index.identity(candidate), index.identity(better)) >= SAME_FROM
  );
}
