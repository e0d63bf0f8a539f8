import { RE2JS } from 're2js';
import { isPlain, requiredLiteral } from '../../../text/required-literal.ts';
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
