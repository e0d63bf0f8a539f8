import type { Viewed } from './view.ts';

/** Half open, UTF-16 offsets. */
interface Span {
  start: number;
  end: number;
}

/**
 * Shows lines `first` to `last`, counted from 1, both included, with their line ends; `last` Infinity: to the end. A
 * line end that closes the text begins no further line. Facts: `lines` of the whole text, `beyond_end` if there are too
 * few.
 */
export function viewLines(text: string, { first, last }: { first: number; last: number }): Viewed {
  let start = text.length;
  let end = text.length;
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    lines += 1;
    if (lines === first) start = at;
    at = lineEnd(text, at);
    if (lines === last) end = at;
  }
  return { kind: 'range', start, end, facts: first > lines ? { lines, beyond_end: true } : { lines } };
}

/** The first `count` lines with their line ends. */
export function firstLines(text: string, count: number): Span {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left -= 1) end = lineEnd(text, end);
  return { start: 0, end };
}

/** The last `count` lines with their line ends. */
export function lastLines(text: string, count: number): Span {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left -= 1) start = lineStartBefore(text, start);
  return { start, end: text.length };
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at + 1;
}

/** Where the line begins that ends just before `end`. */
function lineStartBefore(text: string, end: number): number {
  return end < 2 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
}

/** UTF-16 units that are measured together. */
const CHUNK_CHARS = 1 << 16;

/**
 * Shows bytes `first` to `last` of the text's UTF-8, counted from 0, both included; `last` Infinity: to the end. A
 * character that a bound splits is left out. Facts: `bytes` of the whole text, `beyond_end` if there are too few.
 */
export function viewBytes(text: string, { first, last }: { first: number; last: number }): Viewed {
  const bytes = Buffer.byteLength(text);
  const facts = first >= bytes ? { bytes, beyond_end: true } : { bytes };
  const start = firstCharFrom(text, first);
  const end = last >= bytes - 1 ? text.length : charsWithin(text, last + 1).chars;
  return { kind: 'range', start, end: Math.max(start, end), facts };
}

/** The first character that begins at byte `at` or later. */
function firstCharFrom(text: string, at: number): number {
  const { chars, bytes } = charsWithin(text, at);
  return bytes === at || chars === text.length ? chars : chars + charLength(text, chars);
}

/** How many UTF-16 units, in whole characters, lie within the first `limit` bytes, and how many bytes they take. */
function charsWithin(text: string, limit: number): { chars: number; bytes: number } {
  let chars = 0;
  let bytes = 0;
  while (chars < text.length) {
    const next = chunkEnd(text, chars);
    const size = Buffer.byteLength(text.slice(chars, next));
    if (bytes + size > limit) break;
    chars = next;
    bytes += size;
  }
  while (chars < text.length) {
    const size = charBytes(text.codePointAt(chars) ?? 0);
    if (bytes + size > limit) break;
    bytes += size;
    chars += charLength(text, chars);
  }
  return { chars, bytes };
}

/** Never between the halves of a surrogate pair, which alone would count as three bytes each. */
function chunkEnd(text: string, from: number): number {
  const end = Math.min(text.length, from + CHUNK_CHARS);
  const isHalf = end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return isHalf ? end + 1 : end;
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** A lone surrogate is written as U+FFFD, which has three bytes too. */
function charBytes(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
