import { INTRODUCERS, unitEnd } from '../text/terminal.ts';

/** The longest terminal sequence that is kept whole, UTF-16 units. A longer one may be cut. */
export const SEQUENCE_MAX_CHARS = 4096;

const SECRET = /\[SECRET(?:_\d{1,15})?\]/y;
const SECRET_MAX_CHARS = '[SECRET_]'.length + 15;

/** What must stay whole. `characters` is for a terminal sequence that is longer than the room. */
type Whole = 'everything' | 'characters';

interface Span {
  start: number;
  end: number;
}

/** The last place at or before `at` where `text` may be cut; 0 if not found. */
export function cutBefore(text: string, at: number, whole: Whole = 'everything'): number {
  let cut = Math.min(at, text.length);
  for (let span = spanAround(text, cut, whole); span !== null; span = spanAround(text, cut, whole)) cut = span.start;
  return cut;
}

/** The first place at or after `at` where `text` may be cut; its length if not found. */
export function cutAfter(text: string, at: number, whole: Whole = 'everything'): number {
  let cut = Math.max(at, 0);
  for (let span = spanAround(text, cut, whole); span !== null; span = spanAround(text, cut, whole)) cut = span.end;
  return cut;
}

/** Returns the surrogate pair, CRLF, `[SECRET_n]` or terminal sequence that a cut at `at` would split. */
function spanAround(text: string, at: number, whole: Whole): Span | null {
  if (at <= 0 || at >= text.length) return null;
  const pair = pairAround(text, at) ?? secretAround(text, at);
  return pair ?? (whole === 'everything' ? sequenceAround(text, at) : null);
}

function pairAround(text: string, at: number): Span | null {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  const surrogates = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  const crlf = before === 0x0d && after === 0x0a;
  return surrogates || crlf ? { start: at - 1, end: at + 1 } : null;
}

function secretAround(text: string, at: number): Span | null {
  const from = Math.max(0, at - SECRET_MAX_CHARS);
  const bracket = text.slice(from, at).lastIndexOf('[');
  if (bracket < 0) return null;
  SECRET.lastIndex = from + bracket;
  const end = from + bracket + (SECRET.exec(text)?.[0].length ?? 0);
  return end > at ? { start: from + bracket, end } : null;
}

/** Checks every introducer near `at`, because the ESC of a terminator may hide the one its sequence began with. */
function sequenceAround(text: string, at: number): Span | null {
  const from = Math.max(0, at - SEQUENCE_MAX_CHARS);
  const window = text.slice(from, at + SEQUENCE_MAX_CHARS);
  for (const { index } of text.slice(from, at).matchAll(INTRODUCERS)) {
    const end = unitEnd(window, index);
    if (end > at - from && end - index <= SEQUENCE_MAX_CHARS) return { start: from + index, end: from + end };
  }
  return null;
}
