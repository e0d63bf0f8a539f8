import { readFileSync } from 'node:fs';
import { ContextdError } from '../core/errors.ts';

/** A rank no token has: "these bytes are not one token". */
export const NO_RANK = 0x7fffffff;

const MAGIC = 0x6b303031;
const SLOTS = 1 << 18;
const HEADER_WORDS = 3;

/**
 * The ranks of cl100k_base as one hash table over bytes: `slots` holds rank + 1 (0: empty), probed linearly;
 * token r is `blob[offsets[r] .. offsets[r + 1]]`.
 */
export class RankTable {
  readonly #slots: Uint32Array;
  readonly #offsets: Uint32Array;
  readonly #blob: Uint8Array;

  constructor(slots: Uint32Array, offsets: Uint32Array, blob: Uint8Array) {
    this.#slots = slots;
    this.#offsets = offsets;
    this.#blob = blob;
  }

  /** The rank of `bytes[start..end]`, or NO_RANK. */
  rank(bytes: Uint8Array, start: number, end: number): number {
    for (let slot = hashOf(bytes, start, end); ; slot = (slot + 1) & (SLOTS - 1)) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return NO_RANK;
      if (this.#holds(entry - 1, bytes, start, end)) return entry - 1;
    }
  }

  #holds(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#offsets[rank] ?? 0;
    if ((this.#offsets[rank + 1] ?? 0) - from !== end - start) return false;
    for (let i = start; i < end; i++) if (bytes[i] !== this.#blob[from + i - start]) return false;
    return true;
  }
}

/** FNV-1a, folded to the table's size. Part of the file format: the build and the daemon share it. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

/**
 * The table as a file: magic, token count, blob length, slots, offsets (all little-endian 32-bit words), blob.
 * `tokens[r]` are the bytes of rank r.
 */
export function packRankTable(tokens: readonly Uint8Array[]): Uint8Array {
  const blobBytes = tokens.reduce((sum, token) => sum + token.length, 0);
  const words = new Uint32Array(HEADER_WORDS + SLOTS + tokens.length + 1);
  const slots = words.subarray(HEADER_WORDS, HEADER_WORDS + SLOTS);
  const offsets = words.subarray(HEADER_WORDS + SLOTS);
  const packed = new Uint8Array(words.byteLength + blobBytes);
  words.set([MAGIC, tokens.length, blobBytes]);
  let offset = 0;
  for (const [rank, token] of tokens.entries()) {
    let slot = hashOf(token, 0, token.length);
    while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = rank + 1;
    packed.set(token, words.byteLength + offset);
    offset += token.length;
    offsets[rank + 1] = offset;
  }
  packed.set(new Uint8Array(words.buffer));
  return packed;
}

/** Reads a packed table; nothing is parsed, the file's bytes are the table. INTERNAL_ERROR when it is absent or cut. */
export function readRankTable(file: string): RankTable {
  try {
    return unpackRankTable(readFileSync(file));
  } catch (cause) {
    throw new ContextdError('INTERNAL_ERROR', `the token table ${file} cannot be read`, {
      remedy: 'Reinstall contextd, or run its build again (npm run build).',
      cause,
    });
  }
}

function unpackRankTable(file: Buffer): RankTable {
  const word = (index: number): number => (file.length >= 4 * (index + 1) ? file.readUInt32LE(4 * index) : 0);
  const count = word(1);
  const blobStart = 4 * (HEADER_WORDS + SLOTS + count + 1);
  if (word(0) !== MAGIC || file.length !== blobStart + word(2)) throw new Error('not a packed rank table');
  const words = new Uint32Array(file.buffer, file.byteOffset, blobStart / 4);
  return new RankTable(
    words.subarray(HEADER_WORDS, HEADER_WORDS + SLOTS),
    words.subarray(HEADER_WORDS + SLOTS),
    file.subarray(blobStart),
  );
}
