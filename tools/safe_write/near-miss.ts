import type { Span } from '../../src/sdk/file-span.ts';
import { LineCounter } from './changed-lines.ts';
import { findBytes } from './find-bytes.ts';

export interface NearMiss {
  /** Where it begins in the file, counted from 1. */
  line: number;
  /** What is different, for a sentence. */
  differs: string;
}

const TAB = 0x09;
const RETURN = 0x0d;
const SPACE = 0x20;

/** The first place that is `wanted` but for white space; null when there is none. Linear in both. */
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

/** The offset, from `start` on, of the byte before which stand `count` others that are no white space. */
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

/** White space around the words is only looked at when that between them is the same. */
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
