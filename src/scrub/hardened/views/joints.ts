import { characterTable } from '../../../text/encodings.ts';
import { Edits, editMatches, type Span, type View, ViewBuilder } from '../../../text/offset-map.ts';

const OF_VALUE = characterTable((character) => /[A-Za-z0-9_+/=.~-]/.test(character));
/** What grep, diff or a quote add before the rest of a value, or blanks. The year of a date is no line number. */
const PREFIX = /[ \t]{0,40}(?:(?:(?![0-9]{4}-[01][0-9]-[0-3])[0-9]{1,6}[:-]|[+>|]) ?)?/y;
/** A shorter value has no mark that a rule would know it by. */
const MIN_CHARS = 20;
/** Most characters of a value on one line. */
const MAX_LINE_CHARS = 4096;

/** Columns at which mailers, terminals and tools break lines. */
const USUAL_WIDTHS: ReadonlySet<number> = new Set([
  40, 48, 60, 64, 70, 72, 75, 76, 78, 79, 80, 100, 120, 128, 132, 160,
]);
/** The next line begins a value of its own: name=value, name: value. */
const NEW_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*(?:=[^=\s]|["']?[ \t]*[:=][ \t]|["']?:)/;
const MAX_NAME_CHARS = 80;
/** A line of less than this share of the one before is short. */
const SHORT_SHARE = 4;

/** A value on more lines counts as several that share some lines: memory must not grow with the text. */
const MAX_LINES = 16_384;
const COMMON_LINES = 1_024;

/** Start and end of the part of a value on each line, in order. */
type Chain = number[];

/** Joins values that continue across line ends, and shows nothing else. */
export function unwrapped(text: string): View | null {
  const builder = new ViewBuilder(text);
  let chain: Chain = [];
  for (const { 0: lineEnd, index } of text.matchAll(/\r?\n|\r/g)) {
    const link = linkAt(text, index, index + lineEnd.length, lineEnd === '\r');
    if (link === undefined) continue;
    if (chain.at(-1) !== link[1] || isLastOf(chain, text)) {
      put(builder, text, chain);
      chain = link;
    } else chain.push(link[2], link[3]);
    if (chain.length < 2 * MAX_LINES) continue;
    put(builder, text, chain);
    chain = chain.slice(-2 * COMMON_LINES);
  }
  put(builder, text, chain);
  return builder.isEmpty ? null : builder.build();
}

/** Returns the ends of a value on both sides of a line end: wrapped, continued with a sign, or a carriage return. */
function linkAt(
  text: string,
  lineEnd: number,
  nextLine: number,
  isReturn: boolean,
): [number, number, number, number] | undefined {
  const isSigned = text[lineEnd - 1] === '\\' || text[lineEnd - 1] === '=';
  const end = isSigned ? lineEnd - 1 : lineEnd;
  if (OF_VALUE[text.charCodeAt(end - 1)] !== 1) return undefined;
  const { start: next, end: nextEnd } = valueAfter(text, nextLine);
  if (
    nextEnd === next ||
    IS_RULE.test(text.slice(next, nextEnd)) ||
    NEW_NAME.test(text.slice(next, Math.min(nextEnd + 3, next + MAX_NAME_CHARS)))
  )
    return undefined;
  if (!isSigned && !fits(text, end, nextEnd - next)) return undefined;
  if (!isSigned && !isReturn && !isFull(text, end, nextLine)) return undefined;
  return [valueStart(text, end), end, next, nextEnd];
}

/** A line such as --- is no part of a value. */
const IS_RULE = /^[^A-Za-z0-9]{2,}$/;

/**
 * The short rest of a wrapped value is its last line, whatever short lines follow: `1`, `2`, `3` after a key of 64
 * characters are not part of it. A line that ends with a continuation sign continues anyway.
 */
function isLastOf(chain: Chain, text: string): boolean {
  if (chain.length < 4) return false;
  const [start = 0, end = 0, lastStart = 0, lastEnd = 0] = chain.slice(-4);
  const isSigned = text[end] === '\\' || text[end] === '=';
  return !isSigned && (lastEnd - lastStart) * SHORT_SHARE < end - start;
}

function put(builder: ViewBuilder, text: string, chain: Chain): void {
  if (chain.length < 4) return;
  let length = 0;
  let hasDigit = false;
  for (let i = 0; i < chain.length; i += 2) {
    const part = text.slice(chain[i], chain[i + 1]);
    length += part.length;
    hasDigit ||= /[0-9]/.test(part);
  }
  if (length < MIN_CHARS || !hasDigit) return;
  builder.cut();
  for (let i = 0; i < chain.length; i += 2) builder.copy(chain[i] ?? 0, chain[i + 1] ?? 0);
}

/** A wrapped line is as long as the line before or after it, or has a usual width. */
function isFull(text: string, lineEnd: number, nextLine: number): boolean {
  const { width, next, before } = widthsAround(text, lineEnd, nextLine);
  if (width > MAX_LINE_CHARS) return false;
  return width === next || width === before || isUsualWidth(width);
}

export function isUsualWidth(width: number): boolean {
  return USUAL_WIDTHS.has(width);
}

/** Where a line and the one before it begin, and the widths of the line, the next one and the one before. */
export function widthsAround(text: string, lineEnd: number, nextLine: number): Widths {
  const start = text.lastIndexOf('\n', lineEnd - 1) + 1;
  const nextEnd = text.indexOf('\n', nextLine);
  const next = (nextEnd === -1 ? text.length : nextEnd) - (text[nextEnd - 1] === '\r' ? 1 : 0) - nextLine;
  const lineBefore = start < 2 ? -1 : text.lastIndexOf('\n', start - 2) + 1;
  const before = lineBefore === -1 ? 0 : start - 1 - lineBefore - (text[start - 2] === '\r' ? 1 : 0);
  return { start, lineBefore: Math.max(0, lineBefore), width: lineEnd - start, next, before };
}

export interface Widths {
  start: number;
  lineBefore: number;
  width: number;
  next: number;
  before: number;
}

/** Whether a line begins with a name and its value. */
export function beginsNamed(text: string, lineStart: number): boolean {
  return NEW_NAME.test(text.slice(lineStart, lineStart + MAX_NAME_CHARS));
}

/** The part of a value with which a line begins, after what grep, diff or a quote put before it. */
export function valueAfter(text: string, lineStart: number): Span {
  PREFIX.lastIndex = lineStart;
  const isAfterPrefix = PREFIX.test(text) && OF_VALUE[text.charCodeAt(PREFIX.lastIndex)] === 1;
  const start = isAfterPrefix ? PREFIX.lastIndex : lineStart;
  return { start, end: valueEnd(text, start) };
}

/** What follows a full line is not longer than it. */
function fits(text: string, lineEnd: number, nextLength: number): boolean {
  const from = lineEnd - nextLength;
  return from >= 0 && !/[\r\n]/.test(text.slice(from, lineEnd));
}

function valueStart(text: string, end: number): number {
  let at = end;
  while (end - at < MAX_LINE_CHARS && OF_VALUE[text.charCodeAt(at - 1)] === 1) at--;
  return at;
}

/** The sign of a soft line end is not part of the value. */
function valueEnd(text: string, start: number): number {
  let at = start;
  while (at - start < MAX_LINE_CHARS && OF_VALUE[text.charCodeAt(at)] === 1) at++;
  return text[at - 1] === '=' && (text[at] === '\n' || text[at] === '\r') ? at - 1 : at;
}

/** The end of one quoted string and the beginning of the next, with nothing but an operator between. */
const JOINTS = /(?<=[\w+/=.-])(["'`])\s{0,40}(?:\+|\.{1,2}|&|~|\|\||\\)?\s{0,40}\1(?=[\w+/=.-])/g;

/** Characters around a joint: the rest of the value. */
const JOINT_CONTEXT_CHARS = 512;

/** Joins strings that a program concatenates. */
export function joinedStrings(text: string): View | null {
  return editMatches(text, JOINTS, () => '', JOINT_CONTEXT_CHARS);
}

/** Sixteen characters or more, each by itself between blanks. */
const SPACED = /(?<!\S)(?:[!-~][ \t]{1,3}){15,}[!-~](?!\S)/g;

/** Letters with spaces between them, without the spaces. */
export function withoutSpacing(text: string): View | null {
  const edits = new Edits(text, 1);
  for (const match of text.matchAll(SPACED))
    for (const { 0: blanks, index } of match[0].matchAll(/[ \t]+/g))
      edits.replace(match.index + index, match.index + index + blanks.length, '');
  return edits.view();
}
