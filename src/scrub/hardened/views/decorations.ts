import { Edits, type Span, type View, ViewBuilder, type ViewOf } from '../../../text/offset-map.ts';
import { indexOrEnd } from '../../../text/terminal.ts';

/**
 * What programs write before each line of a text: the signs of a diff, marks of a quotation, numbers of lines, the name of a
 * file or of a service. A name on one line and its value on the next are a pair only without it.
 */

/** What names of secrets hold. Lines far from such a name are not read again: most of a log or a diff. */
const NAMED = /pass|pwd|_pw\b|secret|token|key|cred|stringdata/gi;
/** Lines above and below a name that belong to it, as in a manifest. */
const REACH_LINES = 24;
/** A longer line is no line of settings. */
const MAX_LINE_CHARS = 2048;

/**
 * Prefixes that are the same on each line but for their number. A number counts only if the next line has the next one:
 * two lines that grep found are not neighbours otherwise. A date is no number.
 */
const PREFIXES: readonly RegExp[] = [
  /(?!20[0-9]{2}-)(?<name>[\w.@+/-]{1,120}?)[:-](?<number>[0-9]{1,6})[:-]/y,
  /(?!20[0-9]{2}-)[ \t]{0,8}(?<number>[0-9]{1,6})(?:[:-]|\t|→|[ \t]?[|│](?:[ \t]|$)|[ \t])/my,
  /(?<name>[\w@+-]{0,80}[./][\w.@+/-]{0,120})[:-]/y,
  /[ \t]{0,40}(?:[>|│┃][ \t]?){1,8}/y,
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
  NAMED.lastIndex = 0;
  for (let match = NAMED.exec(text); match !== null; match = NAMED.exec(text)) {
    const line = lineAt(text, match.index);
    NAMED.lastIndex = Math.max(line.end, match.index + match[0].length);
    if (line.start < shown || line.end - line.start > MAX_LINE_CHARS) continue;
    shown = showAround(builder, text, line, hasSigns) ?? shown;
  }
  return builder.isEmpty ? null : builder.build();
}

/** Shows the lines around a line that have a prefix of the same form. Returns where they end, null if no line has one. */
function showAround(builder: ViewBuilder, text: string, line: Span, hasSigns: boolean): number | null {
  for (const prefix of PREFIXES) {
    const lines = prefixedAround(text, line, prefix);
    if (lines.length < 2) continue;
    builder.cut();
    for (const { from, end } of lines) builder.copy(from, end + 1);
    return lines.at(-1)?.end ?? null;
  }
  const lines = hasSigns ? changedAround(text, line) : null;
  if (lines === null) return null;
  for (const left of ['-', '+']) {
    if (left === '+' && !lines.some(({ start }) => text[start] === '-')) continue;
    builder.cut();
    for (const { start, from, end } of lines) if (text[start] !== left) builder.copy(from, end + 1);
  }
  return lines.at(-1)?.end ?? null;
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

/** The lines of a hunk around a line: each begins with a sign or a blank. Null if they are no hunk. */
function changedAround(text: string, line: Span): Line[] | null {
  const isLine = ({ start, end }: Span): boolean => start === end || /[ +\\-]/.test(text[start] ?? '');
  if (!isLine(line)) return null;
  const lines: Span[] = [line];
  let isBelowHeader = false;
  for (const above of linesAbove(text, line.start)) {
    isBelowHeader = text.startsWith('@@', above.start);
    if (!isLine(above)) break;
    lines.unshift(above);
  }
  for (const below of linesBelow(text, line.end)) {
    if (!isLine(below)) break;
    lines.push(below);
  }
  const signs = lines.map(({ start }) => text[start]);
  const isHunk = signs.includes('+') || (signs.includes('-') && (isBelowHeader || signs.every((sign) => sign === '-')));
  if (!isHunk || lines.length < 2) return null;
  return lines
    .filter(({ start }) => text[start] !== '\\')
    .map((one) => ({ ...one, from: Math.min(one.start + 1, one.end) }));
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

function* linesBelow(text: string, end: number): Generator<Span> {
  let start = end + 1;
  for (let count = 0; count < REACH_LINES && start < text.length; count++) {
    const lineEnd = indexOrEnd(text, '\n', start);
    if (lineEnd - start > MAX_LINE_CHARS) return;
    yield { start, end: lineEnd };
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
