import { RE2JS } from 're2js';
import type { Span } from './numbered-lines.ts';

/** Of a longer line only this much is searched, UTF-16 units. */
export const SEARCHED_MAX_CHARS = 1024 * 1024;
/** Most places reported for a line. */
const PLACES_MAX = 8;
/** A long line is searched in pieces that overlap: telling whether there is a match is fast, telling where is not. */
const PIECE_CHARS = 4_096;
const OVERLAP_CHARS = 1_024;
/** Up to this length a line is searched as a whole if no piece has a match, or if the ends of a piece would mislead. */
const WHOLE_MAX_CHARS = 32 * 1024;
const LOOKS_AROUND = /[$^]|\\[AbBz]/;

/**
 * A RE2 pattern that is matched line by line, from the first to the last. Throws what re2js throws for an invalid
 * pattern.
 */
export class LinePattern {
  readonly #text: string;
  readonly #pattern: string;
  readonly #re: RE2JS | null;
  /** Contained in every line that matches; null: every line must be matched. */
  readonly #literal: string | null;
  /** The first place of the literal that no line asked so far lies behind. */
  #literalAt = -1;

  constructor(pattern: string, text: string) {
    this.#text = text;
    this.#pattern = pattern;
    this.#re = isPlain(pattern) ? null : RE2JS.compile(pattern);
    this.#literal = this.#re === null ? pattern : requiredLiteral(pattern);
  }

  /** Whether a line matches. `start` must never be smaller than before. */
  matches({ start, end }: Span): boolean {
    const limit = Math.min(end, start + SEARCHED_MAX_CHARS);
    if (this.#literal !== null && !this.#hasLiteral(this.#literal, start, limit)) return false;
    return this.#re === null || this.#re.test(this.#text.slice(start, limit));
  }

  /** Some places of a line that matches, counted from its start; none where they would take long to find. */
  placesIn({ start, end }: Span): Span[] {
    const line = this.#text.slice(start, Math.min(end, start + SEARCHED_MAX_CHARS));
    return this.#re === null ? literalPlaces(this.#pattern, line) : patternPlaces(this.#re, this.#pattern, line);
  }

  #hasLiteral(literal: string, start: number, limit: number): boolean {
    if (this.#literalAt < start) {
      const at = this.#text.indexOf(literal, start);
      this.#literalAt = at === -1 ? Number.POSITIVE_INFINITY : at;
    }
    return this.#literalAt + literal.length <= limit;
  }
}

function literalPlaces(literal: string, line: string): Span[] {
  const places: Span[] = [];
  for (let at = line.indexOf(literal); at !== -1 && places.length < PLACES_MAX; ) {
    places.push({ start: at, end: at + literal.length });
    at = line.indexOf(literal, at + Math.max(1, literal.length));
  }
  return places;
}

function patternPlaces(re: RE2JS, pattern: string, line: string): Span[] {
  const places: Span[] = [];
  const isWhole = line.length <= WHOLE_MAX_CHARS;
  const step = isWhole && LOOKS_AROUND.test(pattern) ? line.length : PIECE_CHARS;
  for (let from = 0; from < line.length && places.length < PLACES_MAX; from += step) {
    const piece = line.slice(from, from + step + OVERLAP_CHARS);
    if (re.test(piece)) findIn(re, piece, { step, offset: from, places });
  }
  if (places.length === 0 && isWhole) findIn(re, line, { step: line.length, offset: 0, places });
  return places;
}

/** Adds the matches that begin in the first `step` characters of a piece. */
function findIn(re: RE2JS, piece: string, to: { step: number; offset: number; places: Span[] }): void {
  const matcher = re.matcher(piece);
  while (to.places.length < PLACES_MAX && matcher.find() && matcher.start() < to.step) {
    const start = to.offset + matcher.start();
    if (start >= (to.places.at(-1)?.end ?? 0)) to.places.push({ start, end: to.offset + matcher.end() });
  }
}

/** Shorter ones stand in too many lines to be worth a search. */
const MIN_CHARS = 3;

const META = new Set('\\^$.|?*+()[]{}');
const REPEAT = /\{\d+(?:,\d*)?\}/y;

/** Whether a pattern has nothing but plain characters: it matches itself. */
function isPlain(pattern: string): boolean {
  return ![...META].some((character) => pattern.includes(character));
}

/**
 * Returns the longest text that every match of a RE2 pattern contains, so that most lines need not be matched; null if
 * none is found easily. Groups, classes, alternatives and repeated characters are skipped.
 */
export function requiredLiteral(pattern: string): string | null {
  const runs = new Runs();
  for (let at = 0; at < pattern.length; ) {
    const step = takeStep(pattern, at, runs);
    if (step === null) return null;
    at = step;
  }
  return runs.longest();
}

/** Reads what stands at `at` and gives where the next thing begins; null: not understood, or an alternative. */
function takeStep(pattern: string, at: number, runs: Runs): number | null {
  const character = pattern.charAt(at);
  if (!META.has(character)) {
    runs.add(character);
    return at + 1;
  }
  switch (character) {
    case '\\':
      return takeEscape(pattern, at, runs);
    case '[':
      runs.end();
      return classEnd(pattern, at);
    case '(':
      runs.end();
      return groupEnd(pattern, at);
    case '*':
    case '?':
      runs.dropLast();
      return at + 1;
    case '{':
      runs.dropLast();
      return repeatEnd(pattern, at);
    case '.':
    case '^':
    case '$':
    case '+':
      runs.end();
      return at + 1;
    default:
      return null;
  }
}

/** Of escapes with a letter or digit only those that stand for one character or none are known. */
function takeEscape(pattern: string, at: number, runs: Runs): number | null {
  const escaped = pattern.charAt(at + 1);
  if (/[A-Za-z0-9]/.test(escaped) || escaped === '') {
    runs.end();
    return /[dDwWsSbBAz]/.test(escaped) ? at + 2 : null;
  }
  runs.add(escaped);
  return at + 2;
}

/** A brace that is not a repetition stands for itself; too rare to be handled. */
function repeatEnd(pattern: string, at: number): number | null {
  REPEAT.lastIndex = at;
  return REPEAT.test(pattern) ? REPEAT.lastIndex : null;
}

function classEnd(pattern: string, from: number): number | null {
  let at = from + 1;
  if (pattern.charAt(at) === '^') at += 1;
  // A bracket that comes first stands for itself.
  if (pattern.charAt(at) === ']') at += 1;
  while (at < pattern.length) {
    if (pattern.startsWith('[:', at)) {
      const named = pattern.indexOf(':]', at + 2);
      // Two characters that begin no name: the next bracket may or may not close the class.
      if (named === -1 || !/^[a-z^]+$/.test(pattern.slice(at + 2, named))) return null;
      at = named + 2;
    } else if (pattern.charAt(at) === ']') return at + 1;
    else at += pattern.charAt(at) === '\\' ? 2 : 1;
  }
  return null;
}

/** Flags are not followed: they may make the rest case-insensitive. */
function groupEnd(pattern: string, from: number): number | null {
  if (/^\((?:\?(?!:|P?<))/.test(pattern.slice(from, from + 4))) return null;
  let depth = 0;
  for (let at: number | null = from; at !== null && at < pattern.length; ) {
    const character = pattern.charAt(at);
    if (character === '(') {
      if (pattern.startsWith('(?', at) && !/^\(\?(?::|P?<)/.test(pattern.slice(at, at + 4))) return null;
      depth += 1;
    }
    if (character === ')') depth -= 1;
    if (depth === 0) return at + 1;
    if (pattern.startsWith('\\Q', at)) return null;
    if (character === '[') at = classEnd(pattern, at);
    else at += character === '\\' ? 2 : 1;
  }
  return null;
}

/** Collects runs of plain characters. */
class Runs {
  #run = '';
  #longest = '';

  add(character: string): void {
    // Halves of a pair are one character to RE2, and a line end is in no line.
    if (/[\ud800-\udfff\n]/.test(character)) this.end();
    else this.#run += character;
  }

  end(): void {
    if (this.#run.length > this.#longest.length) this.#longest = this.#run;
    this.#run = '';
  }

  /** The character before is repeated, maybe not once. */
  dropLast(): void {
    this.#run = this.#run.slice(0, -1);
    this.end();
  }

  longest(): string | null {
    this.end();
    return this.#longest.length < MIN_CHARS ? null : this.#longest;
  }
}
