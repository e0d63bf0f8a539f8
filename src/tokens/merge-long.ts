import { PieceMerger } from './merge.ts';
import type { RankTable } from './rank-table.ts';

export interface Chunks {
  /** Bytes that are merged at once. */
  bytes: number;
  /** The end of a chunk, which may be wrong because it does not see what follows: merged again with the next chunk. */
  overlapBytes: number;
}

const CHUNKS: Chunks = { bytes: 1024, overlapBytes: 160 };
/** Chunks grow by so much where they do not meet: a megabyte is merged at most five times. */
const GROWTH = 8;

/**
 * Byte-pair merging of pieces of any length with little memory: in chunks. A chunk's tokens are kept up to one that
 * ends `overlapBytes` or more before its end; the next chunk starts there.
 *
 * Parts are the merge of the whole exactly when every two neighbours a, b merge to a, b by themselves: the first merge
 * across a border would be the first one in those two alone as well, for until then nothing outside has touched them.
 * Neighbours within a chunk are such pairs, so only those at a seam need a look. Where one is not, all is merged again in
 * larger chunks, not that one alone: with another end it may begin with another token, and the seam before it was of that.
 */
export class LongMerger {
  readonly #chunk: PieceMerger;
  readonly #seam: PieceMerger;
  readonly #chunks: Chunks;
  #cut = 0;

  constructor(ranks: RankTable, chunks: Chunks = CHUNKS) {
    this.#chunks = chunks;
    this.#chunk = new PieceMerger(ranks);
    this.#seam = new PieceMerger(ranks);
  }

  /** How many tokens `bytes[start..end]` is; Infinity when more than `most`. */
  merge(bytes: Uint8Array, start: number, end: number, most = Number.POSITIVE_INFINITY): number {
    for (let size = this.#chunks.bytes; ; size *= GROWTH) {
      const tokens = this.#mergeBy(size, bytes, start, end, most);
      if (tokens !== null) return tokens;
    }
  }

  /** Null when two chunks of this size do not meet at a border. */
  #mergeBy(size: number, bytes: Uint8Array, start: number, end: number, most: number): number | null {
    let tokens = 0;
    let from = start;
    let parts = this.#chunk.merge(bytes, from, Math.min(from + size, end));
    for (;;) {
      const isLast = from + size >= end;
      const kept = isLast ? parts : this.#chunk.tokensBefore(from + size - this.#chunks.overlapBytes);
      if (tokens + kept > most) this.#cut = this.#chunk.endOfToken(most - tokens);
      if (!isLast) {
        const after = kept === 0 ? null : this.#partsAfter(bytes, kept, size, end);
        if (after === null) return null;
        ({ from, parts } = after);
      }
      tokens += kept;
      if (tokens > most) return Number.POSITIVE_INFINITY;
      if (isLast) return tokens;
    }
  }

  /** Merges the chunk that follows the first `kept` tokens of this one; null when the two do not meet at a border. */
  #partsAfter(bytes: Uint8Array, kept: number, size: number, end: number): { from: number; parts: number } | null {
    const last = this.#chunk.endOfToken(kept - 1);
    const from = this.#chunk.endOfToken(kept);
    const parts = this.#chunk.merge(bytes, from, Math.min(from + size, end));
    return this.#staysTwo(bytes, last, from, this.#chunk.endOfToken(1)) ? { from, parts } : null;
  }

  /** After Infinity: where token number `most` ended, as an offset into the bytes. */
  get cut(): number {
    return this.#cut;
  }

  /** Whether the tokens `bytes[start..middle]` and `bytes[middle..end]` do not merge into something else. */
  #staysTwo(bytes: Uint8Array, start: number, middle: number, end: number): boolean {
    return this.#seam.merge(bytes, start, end) === 2 && this.#seam.endOfToken(1) === middle;
  }
}
