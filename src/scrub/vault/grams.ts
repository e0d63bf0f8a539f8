import { ContextdError } from '../../core/errors.ts';

/** The steps a search may still take, of one to ten nanoseconds each. Throws SCRUB_FAILED when they are used up. */
export class Budget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  allow(steps: number): void {
    this.#left += steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new ContextdError(
      'SCRUB_FAILED',
      'the text repeats parts of known secrets too often to be searched in time',
      {
        remedy: 'Ask for less output.',
      },
    );
  }
}

/** Where a window was taken from. */
export interface WindowSource {
  /** Position of the value among the values, below 8191. */
  owner: number;
  /** Position of the form among the forms of the value, below 64. */
  form: number;
  /** Position of the window in the form, in steps; below 8192. */
  step: number;
}

/** Called with the offset where a window may begin and its packed source; only hashes have been compared so far. */
export type Visit = (at: number, source: number) => void;

const HASH_BASE = 0x01000193;
const SPREAD = 0x9e3779b1;
const FIRST_SLOT_BITS = 8;
/** Bits of the filter per slot of the table: about one lookup in twenty is in vain. */
const FILTER_BITS_PER_SLOT_LOG2 = 3;

/**
 * An index from windows of a fixed number of characters to their sources, by hash alone: eight bytes a window and no
 * copy of any value. A bit filter makes lookups of absent windows cheap.
 */
export class WindowIndex {
  readonly chars: number;
  readonly #leading: number;
  #slotBits = FIRST_SLOT_BITS;
  #hashes = new Int32Array(0);
  /** Packed source + 1; 0 is an empty slot. */
  #sources = new Uint32Array(0);
  #filter = new Int32Array(0);
  #size = 0;

  constructor(chars: number) {
    this.chars = chars;
    this.#leading = power(HASH_BASE, chars);
  }

  /** Windows held. */
  get size(): number {
    return this.#size;
  }

  /** How many sources the window of a form at an offset has already, counted up to a number. */
  count(form: string, at: number, upTo: number): number {
    if (this.#size === 0) return 0;
    return this.#countOf(this.hashOf(form, at), upTo);
  }

  /** Adds the window of a form that begins at an offset, unless it has `max` sources already. */
  add(form: string, at: number, source: WindowSource, max = Number.POSITIVE_INFINITY): void {
    if (this.#size >= this.#hashes.length * 0.7) this.#grow();
    const hash = this.hashOf(form, at);
    if (max !== Number.POSITIVE_INFINITY && this.#countOf(hash, max) >= max) return;
    this.#insert(hash, packed(source) + 1);
    this.#size++;
  }

  /** Hash of the window at an offset; a window that sticks out of the text hashes to anything. */
  hashOf(text: string, at: number): number {
    let hash = 0;
    for (let i = at; i < at + this.chars; i++) hash = (Math.imul(hash, HASH_BASE) + text.charCodeAt(i)) | 0;
    return hash;
  }

  /** Visits the windows that begin in `text` between two UTF-16 offsets. */
  searchText(text: string, from: number, to: number, visit: Visit): void {
    const last = Math.min(to, text.length - this.chars + 1);
    if (this.#size === 0 || from >= last) return;
    const { chars } = this;
    const [filter, shift, leading] = [this.#filter, 32 - this.#filterBits(), this.#leading];
    let hash = this.hashOf(text, from);
    for (let at = from; at < last; at++) {
      const bit = Math.imul(hash, SPREAD) >>> shift;
      if (((filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) this.#visitAll(hash, at, visit);
      hash = (Math.imul(hash, HASH_BASE) + text.charCodeAt(at + chars) - Math.imul(text.charCodeAt(at), leading)) | 0;
    }
  }

  /** The same over character codes, for the windows that begin from `from` up to `to`, of `length` codes in all. */
  searchCodes(codes: Uint8Array, from: number, to: number, length: number, visit: Visit): void {
    const last = Math.min(to, length - this.chars + 1);
    if (this.#size === 0 || from >= last) return;
    const { chars } = this;
    const [filter, shift, leading] = [this.#filter, 32 - this.#filterBits(), this.#leading];
    let hash = 0;
    for (let i = from; i < from + chars; i++) hash = (Math.imul(hash, HASH_BASE) + (codes[i] ?? 0)) | 0;
    for (let at = from; at < last; at++) {
      const bit = Math.imul(hash, SPREAD) >>> shift;
      if (((filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) this.#visitAll(hash, at, visit);
      hash = (Math.imul(hash, HASH_BASE) + (codes[at + chars] ?? 0) - Math.imul(codes[at] ?? 0, leading)) | 0;
    }
  }

  #countOf(hash: number, upTo: number): number {
    let found = 0;
    const mask = this.#hashes.length - 1;
    for (let slot = this.#slotOf(hash); this.#sources[slot] !== 0 && found < upTo; slot = (slot + 1) & mask)
      if (this.#hashes[slot] === hash) found++;
    return found;
  }

  #visitAll(hash: number, at: number, visit: Visit): void {
    const mask = this.#hashes.length - 1;
    for (let slot = this.#slotOf(hash); ; slot = (slot + 1) & mask) {
      const source = this.#sources[slot] ?? 0;
      if (source === 0) return;
      if (this.#hashes[slot] === hash) visit(at, source - 1);
    }
  }

  #insert(hash: number, source: number): void {
    const mask = this.#hashes.length - 1;
    let slot = this.#slotOf(hash);
    while (this.#sources[slot] !== 0) slot = (slot + 1) & mask;
    this.#hashes[slot] = hash;
    this.#sources[slot] = source;
    const bit = Math.imul(hash, SPREAD) >>> (32 - this.#filterBits());
    this.#filter[bit >>> 5] = (this.#filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  #grow(): void {
    const [hashes, sources] = [this.#hashes, this.#sources];
    if (hashes.length > 0) this.#slotBits++;
    this.#hashes = new Int32Array(1 << this.#slotBits);
    this.#sources = new Uint32Array(1 << this.#slotBits);
    this.#filter = new Int32Array((1 << this.#filterBits()) >>> 5);
    for (const [slot, source] of sources.entries()) if (source !== 0) this.#insert(hashes[slot] ?? 0, source);
  }

  #slotOf(hash: number): number {
    return Math.imul(hash, SPREAD) >>> (32 - this.#slotBits);
  }

  #filterBits(): number {
    return this.#slotBits + FILTER_BITS_PER_SLOT_LOG2;
  }
}

function packed({ owner, form, step }: WindowSource): number {
  return ((owner << 19) | (form << 13) | step) >>> 0;
}

export function unpackSource(source: number): WindowSource {
  return { owner: source >>> 19, form: (source >>> 13) & 63, step: source & 8191 };
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base);
  return result;
}
