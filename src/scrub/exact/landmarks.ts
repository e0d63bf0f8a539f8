import { firstIndex } from '../../text/binary-search.ts';
import type { Span } from '../../text/offset-map.ts';
import type { Certificate } from './certified-patterns.ts';
import { contains } from './char-set.ts';
import { childrenOf, type GoNode, isLineLocal, maxLength } from './go-tree.ts';
import type { KeywordPlaces } from './keyword-index.ts';
import { isTranslatable, NativeEngine } from './native-engine.ts';
import { areRare, requiredWords } from './required-words.ts';
import { SHORT_CHARS } from './short-line-engine.ts';

/** What shows where in a text the matches of a pattern can be. */
export interface Landmarks {
  /** Every match contains a word of each list, in lower case. Empty: it need not contain any word. */
  words: readonly (readonly string[])[];
  /** Further lists of this kind, of use where the words above are everywhere. */
  more: readonly (readonly string[])[];
  /** Null: a match may reach any distance from the word. */
  reach: Reach | null;
  /** If the reach is null: what every match begins with, as far as that is bounded. */
  head: Head | null;
}

interface Head {
  words: readonly (readonly string[])[];
  reach: Reach;
  /** Whether a part of a text may hold the beginning of a match. */
  mayBeIn(part: string): boolean;
}

/** `certificate`: how the pattern may run as a JavaScript regular expression. */
export function landmarksOf(pattern: GoNode, certificate?: Certificate): Landmarks {
  const reach = reachOf(pattern);
  const words = requiredWords(pattern);
  // More lists are worth their search only if the rarest words leave much of a text.
  if (reach !== null) {
    const count = reach.kind === 'stretches' ? words.length : 1;
    return { words: words.slice(0, count), more: words.slice(count).filter(areRare), reach, head: null };
  }
  const head = headOf(pattern);
  const headReach = head === null ? null : reachOf(head);
  if (head === null || headReach === null) return { words, more: [], reach, head: null };
  return {
    words,
    more: [],
    reach,
    head: { words: requiredWords(head), reach: headReach, mayBeIn: testFor(head, certificate) },
  };
}

/** The beginning of a pattern is searched in no more ways than the pattern itself. */
function testFor(head: GoNode, certificate: Certificate | undefined): (part: string) => boolean {
  if ((certificate !== 'all' && certificate !== 'short') || !isTranslatable(head)) return () => true;
  const engine = new NativeEngine(head);
  return (part) => (certificate === 'short' && part.length > SHORT_CHARS) || engine.test(part);
}

/**
 * How far from a word a match can be that contains it. Characters: before its end and after it. Lines: those above and
 * below its line, blank ones not counted; 0 only if the match sees nothing of them. Stretches: a number of characters, and
 * before, between and after them a number of runs of any length, each to the end of its line or over blanks.
 */
export type Reach =
  | { readonly kind: 'lines'; readonly count: number }
  | { readonly kind: 'chars'; readonly count: number }
  | { readonly kind: 'stretches'; readonly count: number; readonly runs: number };

const MAX_CHARS = 2048;
const MAX_LINES = 32;
const MAX_RUNS = 16;
/** Beyond the longest match, so that no match can see the end of the part that is searched. */
const CONTEXT_CHARS = 2;

/** Null if a match may be of any length. */
function reachOf(pattern: GoNode): Reach | null {
  if (isLineLocal(pattern)) return { kind: 'lines', count: 0 };
  const chars = maxLength(pattern);
  if (chars <= MAX_CHARS) return { kind: 'chars', count: chars + CONTEXT_CHARS };
  const lines = maxLineEnds(pattern);
  if (lines <= MAX_LINES) return { kind: 'lines', count: lines + 1 };
  const { chars: count, runs } = stretchesOf(pattern);
  return count <= MAX_CHARS && runs <= MAX_RUNS ? { kind: 'stretches', count: count + CONTEXT_CHARS, runs } : null;
}

/** What every match of a pattern begins with, up to the first part that may be of any length. Null: that is nothing. */
function headOf(node: GoNode): GoNode | null {
  if (reachOf(node) !== null) return node;
  switch (node.kind) {
    case 'group':
      return headOf(node.of);
    case 'repeat':
      return node.min > 0 ? headOf(node.of) : null;
    case 'choice': {
      const heads = node.options.map(headOf);
      return heads.every((head) => head !== null) ? { kind: 'choice', options: heads } : null;
    }
    case 'sequence': {
      const end = node.parts.findIndex(
        (_, at) => reachOf({ kind: 'sequence', parts: node.parts.slice(0, at + 1) }) === null,
      );
      const parts = node.parts.slice(0, end);
      const next = node.parts[end];
      const rest = next === undefined ? null : headOf(next);
      const longer: GoNode = { kind: 'sequence', parts: rest === null ? parts : [...parts, rest] };
      return reachOf(longer) === null ? { kind: 'sequence', parts } : longer;
    }
    default:
      return null;
  }
}

/** The offsets at which the words of a list end in a text: one list of offsets for each word that is there. */
export type PlacesOf = (words: readonly string[]) => readonly KeywordPlaces[];

/**
 * The parts of a text that hold every match of a pattern, in order of place and not touching. Undefined if that may be the
 * whole text.
 */
export function partsNear(
  text: string,
  { words, reach, head }: Pick<Landmarks, 'words' | 'reach' | 'head'>,
  placesOf: PlacesOf,
): Span[] | undefined {
  const lists = words.map(placesOf);
  if (lists.some((places) => places.length === 0)) return [];
  if (reach !== null) return partsAround(text, lists.map(inOrder), reach);
  if (head === null) return undefined;
  const headLists = head.words.map((list) => inOrder(placesOf(list)));
  const heads = partsAround(text, headLists, head.reach);
  if (heads === undefined) return undefined;
  const first = heads.find(({ start, end }) => head.mayBeIn(text.slice(start, end)));
  return first === undefined ? [] : [{ start: first.start, end: text.length }];
}

/** `lists`: for each list of words, where they are in the text; undefined: anywhere. */
function partsAround(
  text: string,
  lists: readonly (readonly number[] | undefined)[],
  reach: Reach,
): Span[] | undefined {
  const [rarest, ...others] = lists.filter((places) => places !== undefined).sort((a, b) => a.length - b.length);
  if (rarest === undefined) return undefined;
  const parts: Span[] = [];
  const lines = new LinesOf(text);
  let lineEnd = -1;
  for (const end of rarest) {
    // The surroundings of a line are the same for each word in it.
    if (reach.kind === 'lines' && end <= lineEnd) continue;
    lineEnd = reach.kind === 'lines' ? lineEndFrom(text, end) : -1;
    const part = surroundingsIn(lines, end, reach);
    if (!others.every((places) => isAnyIn(places, part))) continue;
    const last = parts.at(-1);
    if (last !== undefined && part.start <= last.end + 1) last.end = Math.max(last.end, part.end);
    else parts.push(part);
  }
  return parts;
}

function isAnyIn(places: readonly number[], { start, end }: Span): boolean {
  const next = places[firstIndex(0, places.length, (index) => (places[index] ?? 0) > start)];
  return next !== undefined && next <= end;
}

/** Undefined if a word may be anywhere. */
function inOrder(words: readonly KeywordPlaces[]): readonly number[] | undefined {
  const [only] = words;
  if (words.length === 1) return only ?? undefined;
  const all: number[] = [];
  for (const places of words) {
    if (places === null) return undefined;
    for (const place of places) all.push(place);
  }
  return all.sort((a, b) => a - b);
}

/** Where a match can be that contains a word. `end`: where the word ends. */
export function surroundings(text: string, end: number, reach: Reach): Span {
  return surroundingsIn(new LinesOf(text), end, reach);
}

function surroundingsIn(lines: LinesOf, end: number, reach: Reach): Span {
  const { text } = lines;
  switch (reach.kind) {
    case 'chars':
      return { start: Math.max(0, end - reach.count), end: Math.min(text.length, end + reach.count) };
    case 'lines':
      return linesAround(text, end, reach.count);
    case 'stretches':
      return stretchesAround(lines, end, reach);
  }
}

function linesAround(text: string, end: number, count: number): Span {
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

function stretchesAround(lines: LinesOf, end: number, { count, runs }: { count: number; runs: number }): Span {
  const { text } = lines;
  let before = end - count;
  let after = end + count;
  for (let run = 0; run < runs && (before > 0 || after < text.length); run++) {
    if (before > 0) before = Math.min(lines.startBefore(before, run), blanksBefore(text, before)) - count;
    if (after < text.length) after = Math.max(lines.endAfter(after, run), blanksAfter(text, after)) + count;
  }
  return { start: Math.max(0, before), end: Math.min(text.length, after) };
}

/** Where lines begin and end, asked in order of place: a long line is searched for its ends once. */
class LinesOf {
  readonly text: string;
  /** The last line that each series of questions was about. */
  readonly #before: Span[] = [];
  readonly #after: Span[] = [];

  constructor(text: string) {
    this.text = text;
  }

  /** The start of the line that ends at an offset or holds it. */
  startBefore(offset: number, series: number): number {
    return lineIn(this.#before, series, this.text, offset).start;
  }

  endAfter(offset: number, series: number): number {
    return lineIn(this.#after, series, this.text, offset).end;
  }
}

function lineIn(known: Span[], series: number, text: string, offset: number): Span {
  const last = known[series];
  if (last !== undefined && offset >= last.start && offset <= last.end) return last;
  const line = { start: text.lastIndexOf('\n', offset - 1) + 1, end: lineEndFrom(text, offset) };
  known[series] = line;
  return line;
}

function blanksBefore(text: string, from: number): number {
  let at = from;
  while (at > 0 && text.charCodeAt(at - 1) <= BLANK) at--;
  return at;
}

function blanksAfter(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= BLANK) at++;
  return at;
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
  return isBlanks(node.of) ? once : node.max * once;
}

function isBlanks(node: GoNode): boolean {
  return node.kind === 'chars' && (node.set.at(-1) ?? 0) <= BLANK;
}

/** Most characters of a match besides its runs of any length, and most of these runs. May be Infinity. */
function stretchesOf(node: GoNode): { chars: number; runs: number } {
  if (node.kind === 'chars' || node.kind === 'assertion') return { chars: maxLength(node), runs: 0 };
  if (node.kind === 'repeat' && node.max === Number.POSITIVE_INFINITY && isRun(node.of))
    return { chars: node.min * maxLength(node.of), runs: 1 };
  const inside = childrenOf(node).map(stretchesOf);
  const times = node.kind === 'repeat' ? node.max : 1;
  const all = (counts: readonly number[]): number => {
    const once = node.kind === 'choice' ? Math.max(...counts) : counts.reduce((sum, one) => sum + one, 0);
    return once === 0 ? 0 : times * once;
  };
  return { chars: all(inside.map(({ chars }) => chars)), runs: all(inside.map(({ runs }) => runs)) };
}

/** Whether a character repeated any number of times stays in its line or is blank. */
function isRun(node: GoNode): boolean {
  return node.kind === 'chars' && (isBlanks(node) || !contains(node.set, LINE_END));
}
