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
