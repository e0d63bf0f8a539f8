import { readFileSync } from 'node:fs';
import { ContextdError } from '../core/errors.ts';

/** A rank no token has: "these bytes are not one token". */
export const NO_RANK = 0x7fffffff;

const MAGIC = 0x6b303032;
const HEADER_WORDS = 3;
const BUCKET_BITS = 15;
const BUCKETS = 1 << BUCKET_BITS;
/** Bits of the filter: ten a token, so that nine of ten byte strings that are no token end there. */
const FILTER_BITS = 1 << 20;
const FILTER_WORDS = FILTER_BITS / 32;
/** A record is the token's length, seven bits of its hash above the top bit of its rank, the rest of the rank, its bytes. */
const RECORD_HEAD_BYTES = 4;

/**
 * The ranks of cl100k_base as a hash table over bytes: a filter, then buckets of some three records that lie side by
 * side in `records`, bucket b at `starts[b] .. starts[b + 1]`.
 */
export class RankTable {
  readonly #filter: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #records: Uint8Array;
  /** Rank + 1 of each pair of bytes, 0 if not looked up yet. */
  readonly #pairs = new Uint32Array(1 << 16);

  constructor(filter: Uint32Array, starts: Uint32Array, records: Uint8Array) {
    this.#filter = filter;
    this.#starts = starts;
    this.#records = records;
  }

  /** The rank of `bytes[start..end]`, or NO_RANK. */
  rank(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    if (!hasBit(this.#filter, hash)) return NO_RANK;
    const records = this.#records;
    const bucket = bucketOf(hash);
    const stop = this.#starts[bucket + 1] ?? 0;
    for (let at = this.#starts[bucket] ?? 0; at < stop; at += RECORD_HEAD_BYTES + (records[at] ?? 0)) {
      const second = records[at + 1] ?? 0;
      if (records[at] !== end - start || second >> 1 !== tagOf(hash)) continue;
      const shift = at + RECORD_HEAD_BYTES - start;
      let i = start;
      while (i < end && bytes[i] === records[shift + i]) i++;
      if (i === end) return ((second & 1) << 16) | ((records[at + 2] ?? 0) << 8) | (records[at + 3] ?? 0);
    }
    return NO_RANK;
  }

  /** `rank` of the two bytes at `at`, looked up once. */
  pairRank(bytes: Uint8Array, at: number): number {
    const pair = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    const known = this.#pairs[pair] ?? 0;
    if (known > 0) return known - 1;
    const rank = this.rank(bytes, at, at + 2);
    this.#pairs[pair] = rank + 1;
    return rank;
  }
}

/** FNV-1a, its bits mixed at the end. Part of the file format: the build and the daemon share it. */
export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
}

function bucketOf(hash: number): number {
  return hash >>> (32 - BUCKET_BITS);
}

function tagOf(hash: number): number {
  return hash & 0x7f;
}

function filterBit(hash: number): number {
  return (hash >>> 5) & (FILTER_BITS - 1);
}

function hasBit(filter: Uint32Array, hash: number): boolean {
  const bit = filterBit(hash);
  return (((filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/**
 * The table as a file: magic, token count, length of the records, filter, starts (all little-endian 32-bit words),
 * records. `tokens[r]` are the bytes of rank r.
 */
export function packRankTable(tokens: readonly Uint8Array[]): Uint8Array {
  const recordBytes = tokens.reduce((sum, token) => sum + RECORD_HEAD_BYTES + token.length, 0);
  const words = new Uint32Array(HEADER_WORDS + FILTER_WORDS + BUCKETS + 1);
  words.set([MAGIC, tokens.length, recordBytes]);
  const { filter, starts } = partsOf(words);
  const packed = new Uint8Array(words.byteLength + recordBytes);
  const records = packed.subarray(words.byteLength);
  let at = 0;
  for (const [bucket, ranks] of ranksByBucket(tokens).entries()) {
    starts[bucket] = at;
    for (const rank of ranks) at = writeRecord(records, at, filter, { rank, token: tokens[rank] ?? new Uint8Array() });
  }
  starts[BUCKETS] = at;
  packed.set(new Uint8Array(words.buffer));
  return packed;
}

function ranksByBucket(tokens: readonly Uint8Array[]): number[][] {
  const buckets = Array.from({ length: BUCKETS }, (): number[] => []);
  for (const [rank, token] of tokens.entries()) buckets[bucketOf(hashOf(token, 0, token.length))]?.push(rank);
  return buckets;
}

/** Where the next record goes. */
function writeRecord(
  records: Uint8Array,
  at: number,
  filter: Uint32Array,
  { rank, token }: { rank: number; token: Uint8Array },
): number {
  const hash = hashOf(token, 0, token.length);
  const bit = filterBit(hash);
  filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
  records.set([token.length, (tagOf(hash) << 1) | (rank >> 16), (rank >> 8) & 0xff, rank & 0xff], at);
  records.set(token, at + RECORD_HEAD_BYTES);
  return at + RECORD_HEAD_BYTES + token.length;
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
  const recordsStart = 4 * (HEADER_WORDS + FILTER_WORDS + BUCKETS + 1);
  const isWhole = file.length > recordsStart && file.length === recordsStart + file.readUInt32LE(8);
  if (!isWhole || file.readUInt32LE(0) !== MAGIC) throw new Error('not a packed rank table');
  const { filter, starts } = partsOf(new Uint32Array(file.buffer, file.byteOffset, recordsStart / 4));
  return new RankTable(filter, starts, file.subarray(recordsStart));
}

function partsOf(words: Uint32Array): { filter: Uint32Array; starts: Uint32Array } {
  const startsAt = HEADER_WORDS + FILTER_WORDS;
  return { filter: words.subarray(HEADER_WORDS, startsAt), starts: words.subarray(startsAt) };
}
