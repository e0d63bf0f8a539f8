import type { OutputGap } from '../../core/gap.ts';
import type { Viewed } from './view.ts';

/** Half open, UTF-16 offsets. */
interface Span {
  start: number;
  end: number;
}

/** The first and the last unit of a view, both included. */
interface Wanted {
  first: number;
  last: number;
}

/** A part of a text that was kept without a gap, and the wanted part of it. */
interface KeptPart {
  /** The number of its last line or byte. */
  last: number;
  /** Empty if nothing of it is wanted. */
  span: Span;
}

/**
 * Shows lines `first` to `last`, counted from 1, both included, with their line ends; `last` Infinity: to the end. A
 * line end that closes the text begins no further line. Lines after a gap have their numbers in the whole text; if some
 * of the wanted lines are missing, the line that says so is shown. Facts: `lines` of the whole text, `beyond_end` if
 * there are too few.
 */
export function viewLines(text: string, wanted: Wanted, gap?: OutputGap): Viewed {
  const whole = { start: 0, end: text.length };
  if (gap === undefined) return shown('lines', wanted, linesIn(text, whole, 1, wanted));
  const head = linesIn(text, { start: 0, end: gap.start }, 1, wanted);
  const tail = linesIn(text, { start: gap.end, end: text.length }, gap.nextLine, wanted);
  const missing = { first: gap.firstLine, last: gap.lastLine };
  return shown('lines', wanted, joined(head, tail, gap, overlaps(wanted, missing)));
}

function linesIn(text: string, { start: from, end: to }: Span, number: number, { first, last }: Wanted): KeptPart {
  let [start, end] = [to, to];
  let line = number - 1;
  for (let at = from; at < to; ) {
    line += 1;
    if (line === Math.max(first, number)) start = at;
    at = Math.min(to, lineEnd(text, at));
    if (line === last) end = at;
  }
  return { last: line, span: last < number ? { start: from, end: from } : { start, end: Math.max(start, end) } };
}

/** The wanted parts of head and tail, and of the line between them if what it stands for is wanted. */
function joined(head: KeptPart, tail: KeptPart, gap: OutputGap, isGapWanted: boolean): KeptPart {
  const spans = [head.span, isGapWanted ? gap : { start: 0, end: 0 }, tail.span].filter(
    ({ start, end }) => start < end,
  );
  const start = spans[0]?.start ?? tail.span.start;
  return { last: tail.last, span: { start, end: spans.at(-1)?.end ?? start } };
}

function overlaps(one: Wanted, other: Wanted): boolean {
  return one.first <= other.last && one.last >= other.first;
}

function shown(unit: 'lines' | 'bytes', { first }: Wanted, { last, span }: KeptPart): Viewed {
  // Bytes are counted from 0.
  const count = unit === 'bytes' ? last + 1 : last;
  return { kind: 'range', ...span, facts: { [unit]: count, ...(first > last ? { beyond_end: true } : {}) } };
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
 * character that a bound splits is left out. Bytes after a gap are counted in the whole text, as lines are. Facts: `bytes`
 * of the whole text, `beyond_end` if there are too few.
 */
export function viewBytes(text: string, wanted: Wanted, gap?: OutputGap): Viewed {
  if (gap === undefined) return shown('bytes', wanted, bytesIn(text, 0, 0, wanted));
  const head = bytesIn(text.slice(0, gap.start), 0, 0, wanted);
  const missing = { first: head.last + 1, last: head.last + gap.bytes };
  const tail = bytesIn(text.slice(gap.end), gap.end, missing.last + 1, wanted);
  return shown('bytes', wanted, joined(head, tail, gap, overlaps(wanted, missing)));
}

/** `offset`: where the part begins in the text. `number`: the number of its first byte. */
function bytesIn(part: string, offset: number, number: number, wanted: Wanted): KeptPart {
  const bytes = Buffer.byteLength(part);
  const [first, last] = [Math.max(0, wanted.first - number), wanted.last - number];
  const start = firstCharFrom(part, first);
  const end = last >= bytes - 1 ? part.length : charsWithin(part, Math.max(0, last + 1)).chars;
  return { last: number + bytes - 1, span: { start: offset + start, end: offset + Math.max(start, end) } };
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
