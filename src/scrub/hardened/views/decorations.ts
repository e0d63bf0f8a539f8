import { Edits, type Span, type View, ViewBuilder, type ViewOf } from '../../../text/offset-map.ts';
import { indexOrEnd } from '../../../text/terminal.ts';

/**
 * What programs write before each line of a text: the signs of a diff, marks of a quotation, numbers of lines, the name of a
 * file or of a service. A name on one line and its value on the next are a pair only without it.
 */

/** What names of secrets hold. Lines far from such a name are not read again: most of a log or a diff. */
const NAMED = /pass|pwd|_pw\b|secret|token|key|cred|stringdata/gi;
const HAS_NAME = new RegExp(NAMED.source, 'i');
/** Lines above and below a name that belong to it, as in a manifest. Lines with further names go on. */
const REACH_LINES = 24;
/** A longer line is no line of settings. */
const MAX_LINE_CHARS = 2048;

/**
 * Prefixes that are the same on each line but for their number. A number counts only if the next line has the next one:
 * two lines that grep found are not neighbours otherwise. A date is no number.
 */
const PREFIXES: readonly RegExp[] = [
  // grep and git grep, at a revision too.
  /(?!20[0-9]{2}-)(?<name>(?:[\w./~^@-]{1,80}:)?[\w.@+/-]{1,120}?)[:-](?<number>[0-9]{1,6})[:-]/y,
  /(?!20[0-9]{2}-)[ \t]{0,8}(?<number>[0-9]{1,6})(?:[:-]|\t|→|[ \t]?[|│](?:[ \t]|$)|[ \t])/my,
  /(?<name>(?:[\w~^@-]{1,80}:)?[\w@+-]{0,80}[./][\w.@+/-]{0,120})[:-]/y,
  /[ \t]{0,40}(?:[>|│┃][ \t]?){1,8}/y,
  // One side of a diff without a header, and of one with context.
  /[<!](?:[ \t]|$)/my,
  // A level of Maven, a pod and its container, a service.
  /\[(?<name>[^\]["'\n]{1,120})\](?:[ \t]|$)/my,
  // git blame, with and without names.
  /\^?[0-9a-f]{7,40}[ \t]{1,4}(?:[^\s()]{1,120}[ \t]{1,40})?(?:\([^()\n]{1,80}[ \t]20[0-9]{2}-[0-9]{2}-[0-9]{2}[^()\n]{0,20}[ \t])?[ \t]{0,6}(?<number>[0-9]{1,6})\)(?:[ \t]|$)/my,
  /(?<name>[\w.-]{1,40})[ \t]{1,40}[|│][ \t]?/y,
];

/** A line with the sign of a diff. Most texts have none. */
const SIGNED = /^[+-]/m;

interface Line extends Span {
  /** Where the line begins behind its prefix. */
  from: number;
}

interface Prefix {
  end: number;
  /** What must be the same on the next line. */
  shape: string;
  /** The number of the line, if the prefix has one. */
  number: number | null;
}

/** Lines without what a program wrote before each of them; of a diff, what it makes and what it replaces, one after the other. */
export function undecorated(text: string): View | null {
  const builder = new ViewBuilder(text);
  let shown = 0;
  const hasSigns = SIGNED.test(text);
  /** No line above this offset is one of a hunk. */
  let noHunk = hasSigns ? 0 : text.length;
  NAMED.lastIndex = 0;
  for (let match = NAMED.exec(text); match !== null; match = NAMED.exec(text)) {
    const line = lineAt(text, match.index);
    NAMED.lastIndex = Math.max(line.end, match.index + match[0].length);
    if (line.start < shown || line.end - line.start > MAX_LINE_CHARS) continue;
    const prefixed = showPrefixed(builder, text, line);
    if (prefixed !== null) shown = prefixed;
    else if (line.start >= noHunk) {
      const lines = changedAround(text, line);
      if (isHunk(text, lines)) shown = showHunk(builder, text, lines);
      else noHunk = lines.at(-1)?.end ?? line.end;
    }
  }
  return builder.isEmpty ? null : builder.build();
}

/** Shows the lines around a line that have a prefix of the same form. Returns where they end, null if no line has one. */
function showPrefixed(builder: ViewBuilder, text: string, line: Span): number | null {
  for (const prefix of PREFIXES) {
    const lines = prefixedAround(text, line, prefix);
    if (lines.length < 2) continue;
    builder.cut();
    for (const { from, end } of lines) copyLine(builder, text, from, end);
    return lines.at(-1)?.end ?? null;
  }
  return null;
}

/** Shows the lines of a hunk as they become, and then as they were. Returns where they end. */
function showHunk(builder: ViewBuilder, text: string, lines: readonly Span[]): number {
  for (const left of ['-', '+']) {
    if (left === '+' && !lines.some(({ start }) => text[start] === '-')) continue;
    builder.cut();
    for (const { start, end } of lines)
      if (text[start] !== left && text[start] !== '\\') copyLine(builder, text, Math.min(start + 1, end), end);
  }
  return lines.at(-1)?.end ?? 0;
}

/** Copies a line with its end. The last one may have none. */
function copyLine(builder: ViewBuilder, text: string, from: number, end: number): void {
  builder.copy(from, Math.min(end + 1, text.length));
}

/** The lines around a line whose prefixes have one form, with numbers in their order. */
function prefixedAround(text: string, line: Span, form: RegExp): Line[] {
  const first = prefixOf(text, line, form);
  if (first === null) return [];
  const follows = (upper: Prefix, lower: Prefix): boolean =>
    upper.shape === lower.shape && (upper.number === null || lower.number === upper.number + 1);
  const lines: Line[] = [{ ...line, from: first.end }];
  let last = first;
  for (const above of linesAbove(text, line.start)) {
    const prefix = prefixOf(text, above, form);
    if (prefix === null || !follows(prefix, last)) break;
    lines.unshift({ ...above, from: prefix.end });
    last = prefix;
  }
  last = first;
  for (const below of linesBelow(text, line.end)) {
    const prefix = prefixOf(text, below, form);
    if (prefix === null || !follows(last, prefix)) break;
    lines.push({ ...below, from: prefix.end });
    last = prefix;
  }
  return lines;
}

function prefixOf(text: string, { start, end }: Span, form: RegExp): Prefix | null {
  form.lastIndex = start;
  const match = form.exec(text);
  if (match === null || form.lastIndex > end) return null;
  const [prefix] = match;
  const { name = '', number } = match.groups ?? {};
  // A row of a table.
  if (/[|│]/.test(prefix) && /[|│]/.test(text.slice(form.lastIndex, end))) return null;
  const sign = number === undefined && name === '' ? prefix : prefix.slice(-1).replace('-', ':');
  return { end: form.lastIndex, shape: `${name} ${sign}`, number: number === undefined ? null : Number(number) };
}

/** The lines around a line that may be of a hunk: each begins with a sign or a blank, and one has a sign. */
function changedAround(text: string, line: Span): Span[] {
  const isLine = ({ start, end }: Span): boolean => start === end || /[ +\\-]/.test(text[start] ?? '');
  if (!isLine(line)) return [];
  const lines: Span[] = [line];
  for (const above of linesAbove(text, line.start)) {
    if (!isLine(above)) break;
    lines.unshift(above);
  }
  for (const below of linesBelow(text, line.end)) {
    if (!isLine(below)) break;
    lines.push(below);
  }
  return lines;
}

/** Whether lines are a hunk: some are added, or a header says that some are taken out, or all are and they are no list. */
function isHunk(text: string, lines: readonly Span[]): boolean {
  const [first] = lines;
  if (first === undefined || lines.length < 2) return false;
  const signs = lines.map(({ start }) => text[start]);
  if (signs.includes('+') && !isList(text, lines, '+')) return true;
  const above = lineAt(text, Math.max(0, first.start - 1));
  if (signs.includes('-') && text.startsWith('@@', above.start)) return true;
  return signs.every((sign) => sign === '-') && !isList(text, lines, '-');
}

/** Whether each line is an item of a list with this sign. */
function isList(text: string, lines: readonly Span[], sign: string): boolean {
  return lines.every(
    ({ start }) => text[start] === sign && text[start + 1] === ' ' && !/[\s]/.test(text[start + 2] ?? ' '),
  );
}

function lineAt(text: string, at: number): Span {
  return { start: text.lastIndexOf('\n', at - 1) + 1, end: indexOrEnd(text, '\n', at) };
}

/** The lines above an offset, the nearest first. */
function* linesAbove(text: string, start: number): Generator<Span> {
  let end = start - 1;
  for (let count = 0; count < REACH_LINES && end >= 0; count++) {
    const reach = text.slice(Math.max(0, end - MAX_LINE_CHARS), end);
    const lineEnd = reach.lastIndexOf('\n');
    if (lineEnd === -1 && reach.length < end) return;
    const from = end - reach.length + lineEnd + 1;
    yield { start: from, end };
    end = from - 1;
  }
}

/** The lines below an offset, up to some lines after the last one with a name. */
function* linesBelow(text: string, end: number): Generator<Span> {
  let start = end + 1;
  for (let count = 0; count < REACH_LINES && start < text.length; count++) {
    const lineEnd = indexOrEnd(text, '\n', start);
    if (lineEnd - start > MAX_LINE_CHARS) return;
    yield { start, end: lineEnd };
    if (HAS_NAME.test(text.slice(start, lineEnd))) count = 0;
    start = lineEnd + 1;
  }
}

/** What `git diff --word-diff` writes around words: `[-old-]{+new+}`. */
const CHANGED_WORDS = /\[-((?:(?!-\])[^\n]){1,120})-\]|\{\+((?:(?!\+\})[^\n]){1,120})\+\}/g;
const CHANGE_CONTEXT_CHARS = 512;

/** A text with the words that a diff of words replaced. */
export const wordsBefore: ViewOf = (text) => withOneSide(text, 1);
/** A text with the words that a diff of words put there. */
export const wordsAfter: ViewOf = (text) => withOneSide(text, 2);

function withOneSide(text: string, side: 1 | 2): View | null {
  if (!text.includes('[-') && !text.includes('{+')) return null;
  const edits = new Edits(text, CHANGE_CONTEXT_CHARS);
  for (const match of text.matchAll(CHANGED_WORDS)) {
    const [from, kept] = [match.index + 2, match[side]];
    const pieces = kept === undefined ? [] : [{ text: kept, from, to: from + kept.length }];
    edits.rearrange(match.index, match.index + match[0].length, pieces);
  }
  return edits.view();
}
