import type { Span } from '../../src/sdk/file-bytes.ts';
import { LineCounter } from './lines.ts';

/** Up to this length the platform's search is faster; for longer texts its worst case grows with their length. */
const SHORT_BYTES = 64;

export interface FindOptions {
  /** True: `aa` occurs twice in `aaa`. */
  overlapping: boolean;
}

/** Yields the offsets of `wanted`, which is not empty, in `bytes`. Linear in both for every input. */
export function* findBytes(bytes: Buffer, wanted: Buffer, { overlapping }: FindOptions): Generator<number> {
  if (wanted.length > SHORT_BYTES) {
    yield* findLong(bytes, wanted, overlapping);
    return;
  }
  const step = overlapping ? 1 : wanted.length;
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + step)) yield at;
}

/** All offsets of a search, in four bytes each. */
export function findAllBytes(bytes: Buffer, wanted: Buffer): Uint32Array {
  let found = new Uint32Array(64);
  let count = 0;
  for (const at of findBytes(bytes, wanted, { overlapping: false })) {
    if (count === found.length) {
      const larger = new Uint32Array(2 * count);
      larger.set(found);
      found = larger;
    }
    found[count] = at;
    count += 1;
  }
  return found.subarray(0, count);
}

/** The algorithm of Knuth, Morris and Pratt, which reads every byte of the text once. */
function* findLong(bytes: Buffer, wanted: Buffer, overlapping: boolean): Generator<number> {
  const borders = bordersOf(wanted);
  const first = wanted[0] ?? 0;
  let matched = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (matched === 0) {
      at = bytes.indexOf(first, at);
      if (at === -1) return;
    }
    while (matched > 0 && bytes[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (bytes[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = overlapping ? (borders[matched - 1] ?? 0) : 0;
  }
}

/** For each prefix of `wanted`, the length of the longest shorter prefix that it ends with. */
function bordersOf(wanted: Buffer): Uint32Array {
  const borders = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}

export interface NearMiss {
  /** The line at which it begins, counted from 1. */
  line: number;
  /** The difference, as part of a sentence. */
  differs: string;
}

const TAB = 0x09;
const RETURN = 0x0d;
const SPACE = 0x20;

/** Finds the first text that differs from `wanted` only in white space; null if nothing does. Linear in both. */
export function findNearMiss(bytes: Buffer, wanted: Buffer): NearMiss | null {
  const words = withoutSpace(wanted);
  if (words.length === 0) return null;
  const [found] = findBytes(withoutSpace(bytes), words, { overlapping: false });
  if (found === undefined) return null;
  const start = offsetOfWord(bytes, 0, found);
  const end = offsetOfWord(bytes, start, words.length - 1) + 1;
  return { line: new LineCounter(bytes).lineOf(start), differs: compare(bytes, { start, end }, wanted) };
}

function withoutSpace(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if (isSpace(byte)) continue;
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** The offset of the byte after `count` bytes that are not white space, counted from `start`. */
function offsetOfWord(bytes: Buffer, start: number, count: number): number {
  let left = count;
  let at = start;
  for (; at < bytes.length; at++) {
    if (isSpace(bytes[at] ?? 0)) continue;
    if (left === 0) break;
    left -= 1;
  }
  return at;
}

/** Compares the white space around the words only if that between them is the same. */
function compare(bytes: Buffer, { start, end }: Span, wanted: Buffer): string {
  const between = bytes.subarray(start, end);
  const wantedBetween = trim(wanted);
  return between.equals(wantedBetween)
    ? compareSpace(withSpaceAround(bytes, start, end), wanted)
    : compareSpace(between, wantedBetween);
}

function trim(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length];
  while (start < end && isSpace(bytes[start] ?? 0)) start += 1;
  while (end > start && isSpace(bytes[end - 1] ?? 0)) end -= 1;
  return bytes.subarray(start, end);
}

function withSpaceAround(bytes: Buffer, start: number, end: number): Buffer {
  let [from, to] = [start, end];
  while (from > 0 && isSpace(bytes[from - 1] ?? 0)) from -= 1;
  while (to < bytes.length && isSpace(bytes[to] ?? 0)) to += 1;
  return bytes.subarray(from, to);
}

function compareSpace(there: Buffer, wanted: Buffer): string {
  for (const [byte, name, other] of [
    [RETURN, 'CRLF line ends', 'LF'],
    [TAB, 'tabs', 'spaces'],
  ] as const) {
    if (there.includes(byte) && !wanted.includes(byte)) return `${name} there, ${other} here`;
    if (wanted.includes(byte) && !there.includes(byte)) return `${other} there, ${name} here`;
  }
  return 'the number of spaces or line breaks';
}

/** Space, tab, newline, vertical tab, form feed, return. */
function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= TAB && byte <= RETURN);
}
