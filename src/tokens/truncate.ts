import type { TokenCounter } from './counter.ts';
import { cutAfter, cutBefore } from './cut-points.ts';

/** UTF-16 units per token that a first look takes; doubled until the room is filled. */
const FIRST_LOOK = 5;
/** Units per token that are shown at most: longer tokens are runs of one character, and slow to count. */
export const LAST_LOOK = 20;

/** A counter, and how the texts that it counts are printed. */
export interface PrintCounter extends TokenCounter {
  /** True: as they are. Default: inside a JSON string. */
  readonly printsPlain?: boolean;
}

/** Counts texts that are printed as they are. */
export function plainCounter(counter: TokenCounter): PrintCounter {
  return {
    count: (text, limit) => counter.count(text, limit),
    prefixOf: (text, tokens) => counter.prefixOf(text, tokens),
    estimate: (text) => counter.estimate(text),
    printsPlain: true,
  };
}

/** Tokens of `text` as it is printed; Infinity past `limit`. */
export function countPrinted(counter: PrintCounter, text: string, limit?: number): number {
  return counter.count(printed(counter, text), limit);
}

/**
 * Where the head of `text` that fits in about `roomTokens` ends: at a line end, or inside a line that would cost more
 * than half of the head, and never inside a character, a CRLF, a `[SECRET_n]` or a terminal sequence.
 * Looks at a window from the start, never at the whole text. `limit`: the cut is not after it.
 */
export function headEnd(counter: PrintCounter, text: string, roomTokens: number, limit: number = text.length): number {
  const end = reachFromStart(counter, text, roomTokens, limit);
  if (end >= text.length) return text.length;
  const lineEnd = text.slice(0, end).lastIndexOf('\n') + 1;
  return lineEnd * 2 > end ? lineEnd : cutBefore(text, end);
}

/** Where the tail of `text` that fits in about `roomTokens` starts: `headEnd` from the other side. Not before `floor`. */
export function tailStart(counter: PrintCounter, text: string, roomTokens: number, floor: number): number {
  const start = reachFromEnd(counter, text, roomTokens, floor);
  if (start <= floor) return floor;
  const lineStart = start - 1 + text.slice(start - 1).indexOf('\n') + 1;
  const keepsMost = (text.length - lineStart) * 2 > text.length - start;
  return lineStart >= start && keepsMost ? lineStart : cutAfter(text, start);
}

/** UTF-16 units from the start that fit in the room, wherever that ends. */
export function reachFromStart(counter: PrintCounter, text: string, roomTokens: number, limit: number): number {
  if (roomTokens <= 0) return 0;
  for (let units = roomTokens * FIRST_LOOK; ; units *= 2) {
    const window = wellFormed(text.slice(0, Math.min(units, limit)));
    const escaped = printed(counter, window);
    const fitting = counter.prefixOf(escaped, roomTokens);
    if (fitting < escaped.length) return unescapedLength(counter, window, fitting);
    if (units >= limit) return limit;
    if (units >= roomTokens * LAST_LOOK) return window.length;
  }
}

function reachFromEnd(counter: PrintCounter, text: string, roomTokens: number, floor: number): number {
  if (roomTokens <= 0) return text.length;
  for (let units = roomTokens * FIRST_LOOK; ; units *= 2) {
    const from = Math.max(floor, text.length - units);
    const window = wellFormed(text.slice(from));
    const escaped = printed(counter, window);
    const excess = counter.count(escaped) - roomTokens;
    if (excess > 0) return from + unescapedLength(counter, window, counter.prefixOf(escaped, excess));
    if (from === floor || units >= roomTokens * LAST_LOOK) return from;
  }
}

/** Control characters that JSON writes as two characters (`\n`); the others take six (`\u001b`). */
const SHORT_ESCAPES = '\b\t\n\f\r';

/** `text` as it is printed, which is between the quotes of a JSON string by default: budgets hold for the bytes printed. */
function printed({ printsPlain = false }: PrintCounter, text: string): string {
  return printsPlain ? text : JSON.stringify(text).slice(1, -1);
}

/** How many whole UTF-16 units of well-formed `text` the first `escapedChars` of its printed form stand for. */
function unescapedLength({ printsPlain = false }: PrintCounter, text: string, escapedChars: number): number {
  if (printsPlain) return escapedChars;
  let left = escapedChars;
  for (let i = 0; i < text.length; i++) {
    left -= escapedWidth(text.charCodeAt(i));
    if (left < 0) return i;
  }
  return text.length;
}

function escapedWidth(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit >= 0x20) return 1;
  return SHORT_ESCAPES.includes(String.fromCharCode(unit)) ? 2 : 6;
}

/** Lone surrogates become U+FFFD, as they do in the artifact's UTF-8. Lengths stay the same, in units and in bytes. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
