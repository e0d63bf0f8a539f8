import { NO_RANK, type RankTable } from './rank-table.ts';

/** Pieces up to this many bytes are merged by scanning for the lowest rank: faster than a heap while n² is small. */
const SCAN_MAX_BYTES = 48;
/** Scratch arrays larger than this many entries are not kept after the call. */
const KEEP_ENTRIES = 1 << 13;
/** Heap keys are rank · 2³¹ + start: ordered by rank, then leftmost, exact in a double. */
const POSITION_SPAN = 2 ** 31;

/** Byte-pair merging: always the lowest rank, the leftmost of equals. n log n on any input, with 28 bytes a byte. */
export class PieceMerger {
  readonly #ranks: RankTable;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #length = 0;
  /** `#next[p]`: where the part that starts at p ends; offsets within the piece. */
  #next = new Int32Array(0);
  #previous = new Int32Array(0);
  /** `#rankAt[p]`: rank of the part at p joined with the one after it. */
  #rankAt = new Int32Array(0);
  #heap = new Float64Array(0);
  #heapSize = 0;

  constructor(ranks: RankTable) {
    this.#ranks = ranks;
  }

  /** How many tokens `bytes[start..end]` is. */
  merge(bytes: Uint8Array, start: number, end: number): number {
    this.#prepare(bytes, start, end - start);
    return this.#length <= SCAN_MAX_BYTES ? this.#mergeByScan() : this.#mergeByHeap();
  }

  /** Where token number `tokens` (from 1) of what was merged last ends, as an offset into its bytes. */
  endOfToken(tokens: number): number {
    let at = 0;
    for (let i = 0; i < tokens; i++) at = this.#next[at] ?? 0;
    return this.#start + at;
  }

  /** How many tokens of what was merged last end at `limit`, an offset into its bytes, or before. */
  tokensBefore(limit: number): number {
    let tokens = 0;
    for (let at = this.#next[0] ?? 0; this.#start + at <= limit; at = this.#next[at] ?? 0) {
      tokens++;
      if (at >= this.#length) break;
    }
    return tokens;
  }

  #prepare(bytes: Uint8Array, start: number, length: number): void {
    this.#bytes = bytes;
    this.#start = start;
    this.#length = length;
    const kept = this.#next.length;
    if (kept < length || (kept > KEEP_ENTRIES && length <= KEEP_ENTRIES)) this.#allocate(Math.max(length, 256));
    const last = length - 1;
    for (let p = 0; p < last; p++) {
      this.#next[p] = p + 1;
      this.#previous[p] = p - 1;
      this.#rankAt[p] = this.#ranks.pairRank(bytes, start + p);
    }
    this.#next[last] = length;
    this.#previous[last] = last - 1;
    this.#rankAt[last] = NO_RANK;
  }

  #allocate(entries: number): void {
    this.#next = new Int32Array(entries);
    this.#previous = new Int32Array(entries);
    this.#rankAt = new Int32Array(entries);
    this.#heap = new Float64Array(2 * entries);
  }

  #mergeByScan(): number {
    let parts = this.#length;
    for (let best = this.#lowest(); best >= 0; best = this.#lowest()) {
      this.#join(best);
      parts--;
    }
    return parts;
  }

  /** The start of the leftmost pair of lowest rank, -1 when nothing can be joined. */
  #lowest(): number {
    const next = this.#next;
    const rankAt = this.#rankAt;
    const length = this.#length;
    let best = -1;
    let lowest = NO_RANK;
    for (let p = 0; p < length; p = next[p] ?? length) {
      const rank = rankAt[p] ?? NO_RANK;
      if (rank < lowest) {
        lowest = rank;
        best = p;
      }
    }
    return best;
  }

  #mergeByHeap(): number {
    this.#heapSize = 0;
    for (let p = 0; p < this.#length; p++) this.#push(p);
    let parts = this.#length;
    while (this.#heapSize > 0) {
      const key = this.#pop();
      const rank = Math.floor(key / POSITION_SPAN);
      const p = key - rank * POSITION_SPAN;
      if (this.#rankAt[p] !== rank) continue;
      this.#join(p);
      parts--;
      this.#push(p);
      if (p > 0) this.#push(this.#previous[p] ?? 0);
    }
    return parts;
  }

  /** Joins the part at p with the one after it and ranks the two pairs it is now part of. */
  #join(p: number): void {
    const gone = this.#next[p] ?? 0;
    const after = this.#next[gone] ?? 0;
    this.#next[p] = after;
    this.#rankAt[gone] = NO_RANK;
    if (after < this.#length) this.#previous[after] = p;
    this.#rankAt[p] = this.#rankOf(p);
    const before = this.#previous[p] ?? -1;
    if (before >= 0) this.#rankAt[before] = this.#rankOf(before);
  }

  #rankOf(p: number): number {
    const middle = this.#next[p] ?? 0;
    if (middle >= this.#length) return NO_RANK;
    return this.#ranks.rank(this.#bytes, this.#start + p, this.#start + (this.#next[middle] ?? 0));
  }

  #push(p: number): void {
    const rank = this.#rankAt[p] ?? NO_RANK;
    if (rank === NO_RANK) return;
    const heap = this.#heap;
    const key = rank * POSITION_SPAN + p;
    let at = this.#heapSize++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] ?? 0;
      if (above <= key) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = key;
  }

  #pop(): number {
    const heap = this.#heap;
    const top = heap[0] ?? 0;
    const size = --this.#heapSize;
    const key = heap[size] ?? 0;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
      const below = heap[child] ?? 0;
      if (below >= key) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = key;
    return top;
  }
}

interface Chunks {
  /** Bytes that are merged at once. */
  bytes: number;
  /** The end of a chunk, which may be wrong because it does not see what follows: merged again with the next chunk. */
  overlapBytes: number;
}

const CHUNKS: Chunks = { bytes: 1024, overlapBytes: 160 };
/** Chunks grow by this factor if they do not meet: a megabyte is merged at most five times. */
const GROWTH = 8;

/**
 * Byte-pair merging of pieces of any length with little memory: in chunks. The tokens of a chunk are kept up to one
 * that ends `overlapBytes` or more before its end; the next chunk starts there. Parts are the merge of the whole
 * exactly if every two neighbours a, b merge to a, b by themselves: the first merge across a border would also be the
 * first one in those two alone, because nothing outside has touched them before. Neighbours within a chunk are such
 * pairs, so only those at a seam are checked. If one fails, everything is merged again in larger chunks: with another
 * end a chunk may begin with another token, which the seam before it depends on.
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

  /** Null if two chunks of this size do not meet at a border. */
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

  /** Merges the chunk that follows the first `kept` tokens of this one; null if the two do not meet at a border. */
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
