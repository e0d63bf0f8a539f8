import type { Span } from '../../text/offset-map.ts';
import { isMadeOfWords } from '../words.ts';

/**
 * The lines of a private key, whatever a program writes around each of them: a number, a prompt, a time, the name of a
 * file, `$` at the end, quotes and commas, a message of a shell. What stands between two lines is not looked at. A line is
 * known by its base64: lines of one key have the same width, so the run that begins it has the same length, apart from a few
 * characters of base64 that a program writes right before it (`+`, the n of `\n`, a number).
 */

/** The line before a private key or after it, and the header of an encrypted one. */
const MARKER =
  /-----(BEGIN|END)[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|DEK-Info: [A-Z0-9-]{3,20},[0-9A-F]{8,64}/gi;
const END_MARKER = /^-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/i;
const MAX_MARKER_CHARS = 150;
/** A run of base64, or any line that begins or ends something. */
const RUN = /-----(?:BEGIN|END)|[A-Za-z0-9+/]+={0,2}/gi;
/** Full lines are no longer than this. */
const MAX_LINE_CHARS = 76;
const SHORT_LINE = `[A-Za-z0-9+/]{1,${MAX_LINE_CHARS}}={0,2}`;
/** Characters between two lines of a key, or between it and its BEGIN or END line. */
const MAX_BETWEEN_CHARS = 1024;
/** Characters that a program may write right before a line, all of base64. */
const MAX_GLUED_CHARS = 8;
/** A shorter run of base64 is no full line of a key. */
const MIN_FULL_CHARS = 20;
/** Full lines have 64, 70 or 76 characters. Shorter ones were broken once more: they count only between BEGIN and END. */
const FULL_CHARS = 40;
/** Characters between a BEGIN line and the first line of a key without an END line. */
const MAX_HEADERS_CHARS = 512;
/** Characters before an END line that are searched for lines, if no line of another kind is nearer. */
const MAX_BACK_CHARS = 65_536;

/** Finds private keys between their BEGIN and END lines, and those that have one of the two. In order of place. */
export function findKeyLines(text: string): Span[] {
  if (!/-----(?:BEGIN|END)|DEK-Info/i.test(text)) return [];
  const found: Span[] = [];
  let last: Span | null = null;
  for (const { 0: marker, 1: kind = 'BEGIN', index } of text.matchAll(MARKER)) {
    const end = index + marker.length;
    const above: Span | null = last;
    last = { start: index, end };
    const done = found.at(-1)?.end ?? 0;
    if (done >= end) continue;
    const before = kind.toUpperCase() === 'END' ? linesBefore(text, index) : null;
    const after = before === null ? linesFrom(text, end) : null;
    if (before !== null) found.push({ start: before.start, end: index });
    else if (after !== null && isBelieved(text, kind, { above, index, end, after }))
      found.push({ start: startOf(text, index, above !== null && done >= above.end ? null : above), end: after.end });
    else if (above !== null && found.at(-1)?.end === above.start) {
      const after = shortLineAfter(text, end, text.slice(above.end, index));
      if (after > end) found.push({ start: index, end: after });
    }
  }
  return found;
}

/** Where a key begins: sorted lines may stand before the BEGIN line too, behind an END line that closes no other key. */
function startOf(text: string, index: number, above: Span | null): number {
  if (above === null || index - above.end > MAX_HEADERS_CHARS) return index;
  const start = linesBefore(text, above.start)?.start ?? above.start;
  return shortLineBefore(text, start, text.slice(above.end, index));
}

/**
 * Where the short last line of a key begins if sorting put it before the two markers, of which `between` stands between.
 * Like the other lines, it has that on both sides.
 */
function shortLineBefore(text: string, end: number, between: string): number {
  const shape = shapeOf(between);
  if (shape === '') return end;
  const line = new RegExp(`(?:^|${shape})(${SHORT_LINE})(${shape})$`);
  const from = Math.max(0, end - MAX_LINE_CHARS - 2 * MAX_HEADERS_CHARS);
  const [, run = '', separator = ''] = line.exec(text.slice(from, end)) ?? [];
  return isShortLine(run) ? end - separator.length - run.length : end;
}

/** Where such a line ends if a descending order put it behind the two markers. */
function shortLineAfter(text: string, start: number, between: string): number {
  const shape = shapeOf(between);
  if (shape === '') return start;
  const line = new RegExp(`^${shape}(${SHORT_LINE})(?:$|${shape})`);
  const [, run = ''] = line.exec(text.slice(start, start + MAX_LINE_CHARS + 2 * MAX_HEADERS_CHARS)) ?? [];
  return isShortLine(run) ? text.indexOf(run, start) + run.length : start;
}

/** Whether lines after a BEGIN line, or in another order after an END line, are a key and not something in a program. */
function isBelieved(
  text: string,
  kind: string,
  { above, index, end, after }: { above: Span | null; index: number; end: number; after: Lines },
): boolean {
  const [isFull, isNear] = [after.width >= FULL_CHARS, after.start - end <= MAX_HEADERS_CHARS];
  if (kind.toUpperCase() === 'BEGIN') return after.isClosed || (isFull && isNear);
  const next = text.slice(after.end, after.end + MAX_BETWEEN_CHARS);
  if (isFull && (after.count > 2 || /-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY/i.test(next))) return true;
  // In sorted lines the two markers and the next line have the same between them.
  const between = above === null || index - above.end > MAX_HEADERS_CHARS ? '' : shapeOf(text.slice(above.end, index));
  return isFull && between !== '' && new RegExp(`^${between}$`).test(text.slice(end, after.start));
}

/** Where the lines of a key that begins with a known one end: the rest of a key without its BEGIN line. */
export function keyLinesEnd(text: string, first: Span): number {
  return linesFrom(text, first.start)?.end ?? first.end;
}

interface Lines extends Span {
  count: number;
  /** Characters of the first full line. */
  width: number;
  /** Whether an END line follows. */
  isClosed: boolean;
}

/** The lines of a key of which the first is near an offset, up to its END line or its last line. */
function linesFrom(text: string, from: number): Lines | null {
  let lines: Lines | undefined;
  let between = '';
  RUN.lastIndex = from;
  for (let match = RUN.exec(text); match !== null; match = RUN.exec(text)) {
    const { 0: run, index } = match;
    if (index - (lines?.end ?? from) > MAX_BETWEEN_CHARS) break;
    if (run.startsWith('-----')) {
      const end = markerEnd(text, index);
      if (end !== null && lines !== undefined) return { ...lines, end, isClosed: true };
      break;
    }
    const isLonger = lines?.count === 1 && run.length > lines.width;
    if (!isLine(run, isLonger ? 0 : (lines?.width ?? 0))) continue;
    if (lines !== undefined) between = text.slice(lines.end, index);
    lines = {
      start: lines?.start ?? index,
      end: index + run.length,
      count: (lines?.count ?? 0) + 1,
      // In another order, the short last line may come first.
      width: isLonger ? run.length : (lines?.width ?? run.length),
      isClosed: false,
    };
  }
  return lines === undefined ? null : { ...lines, end: lastLineEnd(text, lines, between) };
}

/** Whether a run is a full line of a key; `width`: the length of the one before it, or 0. */
function isLine(run: string, width: number): boolean {
  if (run.length < MIN_FULL_CHARS || (width > 0 && Math.abs(run.length - width) > MAX_GLUED_CHARS)) return false;
  return isRandom(run);
}

function isRandom(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9+/]/.test(run) && !isMadeOfWords(run);
}

/** The end of an END line of a private key at an offset. Null for any other line. */
function markerEnd(text: string, at: number): number | null {
  const [marker] = END_MARKER.exec(text.slice(at, at + MAX_MARKER_CHARS)) ?? [];
  return marker === undefined ? null : at + marker.length;
}

/**
 * The end of a short last line. Before it stands, apart from numbers, what stood before the line above it; the rest of a
 * line may be anything.
 */
function lastLineEnd(text: string, { end, width }: Lines, between: string): number {
  if (between === '') return end;
  const lineEnd = between.indexOf('\n');
  const before = lineEnd === -1 ? shapeOf(between) : `[^\\n]{0,200}?${shapeOf(between.slice(lineEnd))}`;
  const next = new RegExp(`${before}([A-Za-z0-9+/]{1,${width}}={0,2})(?![A-Za-z0-9+/])`, 'y');
  next.lastIndex = end;
  const [, run = ''] = next.exec(text) ?? [];
  return isShortLine(run) ? next.lastIndex : end;
}

/** Whether a run can be the rest of a key that fills no line. No word begins with a plus sign. */
function isShortLine(run: string): boolean {
  return run.endsWith('=') || (run.length > 3 && (run.startsWith('+') || isMixed(run)));
}

/** A pattern for the same text with other numbers in it. */
function shapeOf(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&').replace(/[0-9]+/g, '[0-9]+');
}

function isMixed(run: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9+/]/].filter((kind) => kind.test(run));
  return kinds.length >= 2 && !isMadeOfWords(run) && !/^[0-9a-f]+$/i.test(run);
}

/** The lines of a key before an END line, from as far above as they have the same width. */
function linesBefore(text: string, end: number): Span | null {
  const from = Math.max(0, end - MAX_BACK_CHARS, text.lastIndexOf('-----', end - 1) + 5);
  const runs = [...text.slice(from, end).matchAll(/[A-Za-z0-9+/]+={0,2}/g)];
  let start: number | null = null;
  let next = end;
  let width = 0;
  let count = 0;
  for (const { 0: run, index } of runs.toReversed()) {
    const [at, after] = [from + index, from + index + run.length];
    if (next - after > MAX_BETWEEN_CHARS) break;
    const isLonger = count === 1 && run.length > width;
    if (!isLine(run, isLonger ? 0 : width)) continue;
    if (isLonger || count === 0) width = run.length;
    count += 1;
    start = at;
    next = at;
  }
  return start === null ? null : { start, end };
}
