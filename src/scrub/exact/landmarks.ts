import type { Span } from '../../text/view.ts';
import { contains } from './char-set.ts';
import { childrenOf, type GoNode, isLineLocal, maxLength } from './go-tree.ts';
import type { KeywordPlaces } from './keyword-index.ts';
import { requiredWords } from './required-words.ts';

/** What shows where in a text the matches of a pattern can be. */
export interface Landmarks {
  /** Every match contains one of them, in lower case. */
  words: readonly string[];
  /** Null: a match may reach any distance from the word. */
  reach: Reach | null;
}

/** Null if a match need not contain any word. */
export function landmarksOf(pattern: GoNode): Landmarks | null {
  const words = requiredWords(pattern);
  return words === null ? null : { words, reach: reachOf(pattern) };
}

/**
 * How far from a word a match can be that contains it. Characters: before its end and after it. Lines: those above and
 * below its line, blank ones not counted; 0 only if the match sees nothing of them.
 */
interface Reach {
  readonly kind: 'lines' | 'chars';
  readonly count: number;
}

const MAX_CHARS = 2048;
const MAX_LINES = 32;
/** Beyond the longest match, so that no match can see the end of the part that is searched. */
const CONTEXT_CHARS = 2;

/** Null if a match may be of any length. */
function reachOf(pattern: GoNode): Reach | null {
  if (isLineLocal(pattern)) return { kind: 'lines', count: 0 };
  const chars = maxLength(pattern);
  if (chars <= MAX_CHARS) return { kind: 'chars', count: chars + CONTEXT_CHARS };
  const lines = maxLineEnds(pattern);
  return lines <= MAX_LINES ? { kind: 'lines', count: lines + 1 } : null;
}

/**
 * The parts of a text that hold every match that contains one of some words, in order of place and not touching. Undefined
 * if that may be the whole text. `words`: the places of each word.
 */
export function partsNear(text: string, words: readonly KeywordPlaces[], reach: Reach | null): Span[] | undefined {
  const places = inOrder(words);
  if (places === undefined || places.length === 0) return places && [];
  if (reach === null) return undefined;
  const parts: Span[] = [];
  let lineEnd = -1;
  for (const end of places) {
    // The surroundings of a line are the same for each word in it.
    if (reach.kind === 'lines' && end <= lineEnd) continue;
    lineEnd = reach.kind === 'lines' ? lineEndFrom(text, end) : -1;
    const part = surroundings(text, end, reach);
    const last = parts.at(-1);
    if (last !== undefined && part.start <= last.end + 1) last.end = Math.max(last.end, part.end);
    else parts.push(part);
  }
  return parts;
}

function inOrder(words: readonly KeywordPlaces[]): readonly number[] | undefined {
  const all: number[] = [];
  for (const places of words) {
    if (places === null) return undefined;
    for (const place of places) all.push(place);
  }
  return all.sort((a, b) => a - b);
}

/** `end`: where the word ends. */
function surroundings(text: string, end: number, { kind, count }: Reach): Span {
  if (kind === 'chars') return { start: Math.max(0, end - count), end: Math.min(text.length, end + count) };
  let before = text.lastIndexOf('\n', end - 1);
  let after = lineEndFrom(text, end);
  for (let line = 0; line < count; line++) {
    while (before > 0 && text.charCodeAt(before - 1) <= BLANK) before--;
    before = before > 0 ? text.lastIndexOf('\n', before - 1) : -1;
    while (after < text.length && text.charCodeAt(after) <= BLANK) after++;
    after = lineEndFrom(text, after);
  }
  return { start: before + 1, end: after };
}

function lineEndFrom(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

const LINE_END = 0x0a;
/** The blank with the highest code. */
const BLANK = 0x20;

/** Most lines that a match goes on to; a run of blanks leads to one other line. May be Infinity. */
function maxLineEnds(node: GoNode): number {
  if (node.kind === 'chars') return contains(node.set, LINE_END) ? 1 : 0;
  const inside = childrenOf(node).map(maxLineEnds);
  if (node.kind === 'choice') return Math.max(...inside);
  const once = inside.reduce((sum, one) => sum + one, 0);
  if (node.kind !== 'repeat' || once === 0) return once;
  const isBlank = node.of.kind === 'chars' && (node.of.set.at(-1) ?? 0) <= BLANK;
  return isBlank ? once : node.max * once;
}
