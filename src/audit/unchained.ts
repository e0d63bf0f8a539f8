import { createHash } from 'node:crypto';
import type { PrunedTo, SegmentStart } from './segments.ts';

/** The hash of no file. */
const NOTHING = createHash('sha256').digest('hex');

/**
 * What the log says of the files from before there was a chain: the hash of all of them at its start, then of what was left each time
 * that a part was removed as old.
 */
export class UnchainedStates {
  /** Hashes, each different from the one before. Null: an earlier version removed a part and did not write what was left. */
  readonly #states: (string | null)[] = [];

  /** False: no such file was there when the chain began. */
  get hadFiles(): boolean {
    return this.#states.some((state) => state !== NOTHING);
  }

  /** True if nothing says what is left of them. */
  get isUnknown(): boolean {
    return this.#states.at(-1) === null;
  }

  started({ unchained = NOTHING }: SegmentStart): void {
    this.#add(unchained);
  }

  /** The segments of the chain come after these files: earlier versions removed all of these with the first of them. */
  pruned({ seq, unchained }: PrunedTo): void {
    if (unchained !== undefined) this.#add(unchained);
    else if (seq === 0) this.#add(null);
  }

  #add(state: string | null): void {
    if (this.#states.at(-1) !== state) this.#states.push(state);
  }

  /** Null if the files with this hash are what was left. Each removal is written first, so that the files may be one state behind. */
  fault(hash: string): string | null {
    const states = this.#states.slice(-2);
    if (states.includes(hash) || (hash === NOTHING && states.includes(null))) return null;
    return this.isUnknown
      ? 'the records from before there was a chain cannot be proven: an earlier version of contextd removed a part of them because they were old, and did not write what was left'
      : 'the records from before there was a chain are not as they were when it began';
  }
}
