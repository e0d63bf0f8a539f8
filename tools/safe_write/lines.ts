import type { Span } from '../../src/sdk/file-bytes.ts';

/** The most separate spans; of more, the last one covers the rest. */
const SPANS_MAX = 256;
/** The most line ranges in an answer; of more, the last one covers the rest. */
const RANGES_MAX = 20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The replacement of a text by another one, at every place it occurs. */
export interface Replacement {
  /** Offsets before the replacement, ascending, not overlapping. */
  starts: Uint32Array;
  old: Buffer;
  new: Buffer;
}

/** The changed spans after a replacement: the earlier ones, moved, and the new ones. */
export function afterReplacement(spans: readonly Span[], replacement: Replacement): Span[] {
  const moved = spans.map(({ start, end }) => ({
    start: moveOffset(start, replacement, 0),
    end: moveOffset(end, replacement, replacement.new.length),
  }));
  const all = [...moved, ...newSpans(replacement)].sort((a, b) => a.start - b.start);
  const joined: Span[] = [];
  for (const span of all) addSpan(joined, span, (last) => continues(last, span));
  return joined;
}

/** An empty span names the line it is in, which may begin where the span before it ends. */
function continues(last: Span, span: Span): boolean {
  const isEmpty = span.start === span.end && last.start < last.end;
  return isEmpty ? span.start < last.end : span.start <= last.end;
}

/** The lines of the spans, as `12-14` or `40`, counted from 1. For a deletion, the line that is there now. */
export function lineRanges(bytes: Buffer, spans: readonly Span[]): string[] {
  if (bytes.length === 0) return [];
  const lines = new LineCounter(bytes);
  const ranges: Span[] = [];
  for (const span of spans) {
    const start = lines.lineOf(span.start);
    const range = { start, end: Math.max(start, lines.lineOf(Math.max(span.start, span.end - 1))) };
    const last = ranges.at(-1);
    if (last !== undefined && (range.start <= last.end + 1 || ranges.length === RANGES_MAX)) last.end = range.end;
    else ranges.push(range);
  }
  return ranges.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`));
}

function newSpans({ starts, old, new: next }: Replacement): Span[] {
  // The rest of the line after the old text is a line of its own now.
  const rest = next.at(-1) === NEWLINE && old.at(-1) !== NEWLINE ? 1 : 0;
  const spans: Span[] = [];
  starts.forEach((at, index) => {
    const start = at + index * (next.length - old.length);
    addSpan(spans, { start, end: start + next.length + rest }, () => false);
  });
  return spans;
}

function addSpan(spans: Span[], span: Span, isPartOf: (last: Span) => boolean): void {
  const last = spans.at(-1);
  if (last !== undefined && (isPartOf(last) || spans.length === SPANS_MAX)) last.end = Math.max(last.end, span.end);
  else spans.push({ ...span });
}

/** An offset after the replacement. An offset inside a replaced text becomes the offset `inside` of the new text. */
function moveOffset(offset: number, { starts, old, new: next }: Replacement, inside: number): number {
  const passed = countUpTo(starts, offset - old.length);
  const moved = passed * (next.length - old.length);
  const start = starts[passed];
  return start !== undefined && start < offset ? start + moved + inside : offset + moved;
}

/** Counts the ascending numbers that are at most `limit`. */
function countUpTo(numbers: Uint32Array, limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds the lines of ascending offsets in one pass. */
export class LineCounter {
  readonly #bytes: Buffer;
  #line = 1;
  #newline: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#newline = bytes.indexOf(NEWLINE);
  }

  /** Counted from 1. The end of the bytes belongs to their last line. */
  lineOf(offset: number): number {
    const at = Math.min(offset, Math.max(0, this.#bytes.length - 1));
    while (this.#newline !== -1 && this.#newline < at) {
      this.#line += 1;
      this.#newline = this.#bytes.indexOf(NEWLINE, this.#newline + 1);
    }
    return this.#line;
  }
}

/** True if there are line ends and all are CRLF. */
export function isCrlfThroughout(bytes: Buffer): boolean {
  let at = bytes.indexOf(NEWLINE);
  if (at === -1) return false;
  for (; at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) if (bytes[at - 1] !== RETURN) return false;
  return true;
}

/** Converts newlines to CRLF. */
export function toCrlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}
