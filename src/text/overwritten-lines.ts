import {
  BACKSPACE,
  CR,
  CSI,
  ESC,
  Introducers,
  indexOrEnd,
  isControl,
  parametersStart,
  sequenceEnd,
} from './terminal.ts';
import { LINE_MAX_COLUMNS, type ShownCell, TerminalLine } from './terminal-line.ts';

const DIGIT_ZERO = 0x30;
/** Longest parameters and final character of a sequence that is played. */
const MAX_BODY_CHARS = 5;
/**
 * Columns read per character of a line, and for any line. A line of frames far shorter than what they overwrite costs
 * more, and is not played.
 */
const READ_PER_CHAR = 64;
const READ_FREE = 65_536;

/** A part of a line, and what a terminal shows of it in the end. */
export interface ShownPart {
  from: number;
  to: number;
  text: string;
  /** The characters of `text` with their places; null if it is one part of the source, or if nobody asked for it. */
  cells: ShownCell[] | null;
}

export interface LinePlayerOptions {
  /** Whether erasing to the end of the screen, at this offset, erases no more than the rest of the line. */
  erasesLineOnly(at: number): boolean;
  /** Whether parts come with their cells. */
  withCells: boolean;
}

/** Plays lines of one text on a terminal's line. */
export class LinePlayer {
  readonly #source: string;
  readonly #options: LinePlayerOptions;
  readonly #screen: TerminalLine;
  readonly #isOnlyLine: boolean;
  #parts: (ShownPart & { isTooWide: boolean })[] = [];
  #partStart = 0;
  #readLeft = 0;

  /** `isOnlyLine`: carriage returns may be the line ends of this text, so more evidence of progress is needed. */
  constructor(source: string, isOnlyLine: boolean, options: LinePlayerOptions) {
    this.#source = source;
    this.#isOnlyLine = isOnlyLine;
    this.#options = options;
    this.#screen = new TerminalLine(source);
  }

  /**
   * Returns the parts of line [start, end) as they are finally shown; null if the line holds what cannot be played, or
   * if a part is longer than its source.
   */
  play(start: number, end: number): readonly ShownPart[] | null {
    this.#screen.clear();
    this.#parts = [];
    this.#partStart = start;
    this.#readLeft = READ_FREE + READ_PER_CHAR * (end - start);
    let at = start;
    while (at < end) {
      at = this.#step(at, end);
      if (at < 0) return null;
    }
    this.#closePart(end);
    return this.#parts.some(({ isTooWide }) => isTooWide) ? null : this.#parts;
  }

  /** Plays what is at `at` and returns the place after it; -1 if it cannot be played. */
  #step(at: number, end: number): number {
    switch (this.#source.charCodeAt(at)) {
      case CR:
        this.#screen.moveTo(0);
        return at + 1;
      case BACKSPACE:
        this.#screen.moveTo(this.#screen.column - 1);
        return at + 1;
      case ESC:
      case CSI:
        return this.#sequence(at);
      default:
        return this.#text(at, end);
    }
  }

  #text(at: number, end: number): number {
    let stop = at;
    while (stop < end && !isControl(this.#source.charCodeAt(stop))) stop++;
    if (stop === at || stop - at > LINE_MAX_COLUMNS) return -1;
    const overwrites = at > this.#partStart && this.#source.charCodeAt(at - 1) === CR && !this.#screen.isEmpty;
    const isWhole = stop === end || this.#source.charCodeAt(stop) === CR;
    if (overwrites && isWhole) {
      const shown = this.#screen.text();
      this.#readLeft -= shown.length;
      if (this.#readLeft < 0) return -1;
      if (!supersedes(this.#source.slice(at, stop), shown, this.#isOnlyLine)) this.#startPart(at);
    }
    return this.#screen.write(at, stop) ? stop : -1;
  }

  #startPart(at: number): void {
    this.#closePart(at - 1);
    this.#screen.clear();
    this.#partStart = at;
  }

  #sequence(at: number): number {
    const played = playableSequence(this.#source, at);
    return played !== null && this.#control(played.final, played.number, at) ? played.end : -1;
  }

  #control(final: string, number: number, at: number): boolean {
    const screen = this.#screen;
    switch (final) {
      case 'J':
        return number === 0 && this.#options.erasesLineOnly(at) && this.#erase(0);
      case 'K':
        return number <= 2 && this.#erase(number);
      case 'D':
        return screen.moveTo(screen.column - Math.max(1, number));
      case 'C':
        return this.#parts.length === 0 && screen.moveTo(screen.column + Math.max(1, number));
      default:
        return this.#parts.length === 0 && screen.moveTo(Math.max(1, number) - 1);
    }
  }

  /** Erasing the whole line also ends the parts before. What other erasing does to them is not known here. */
  #erase(which: number): boolean {
    const isWhole = which === 2 || (which === 0 && this.#screen.column === 0);
    if (!isWhole && this.#parts.length > 0) return false;
    this.#partStart = this.#parts[0]?.from ?? this.#partStart;
    this.#parts = [];
    this.#screen.erase(which);
    return true;
  }

  #closePart(to: number): void {
    const from = this.#partStart;
    // A character has one or two columns: a part this wide is longer than its source, and is not written out.
    const isTooWide = this.#screen.width > 2 * (to - from);
    const text = isTooWide ? '' : this.#screen.text();
    const cells = this.#options.withCells && !isTooWide ? this.#screen.cells() : null;
    this.#parts.push({ from, to, text, cells, isTooWide });
  }
}

/** The sequence at `at` if it erases in the line or moves in it (C, D, G, J or K with at most one number); otherwise null. */
export function playableSequence(
  source: string,
  at: number,
): { end: number; final: 'C' | 'D' | 'G' | 'J' | 'K'; number: number } | null {
  const from = parametersStart(source, at);
  const end = from < 0 ? -1 : sequenceEnd(source, at);
  const hasIntermediate = end - from > 1 && source.charCodeAt(end - 2) < DIGIT_ZERO;
  if (end < 0 || end - from > MAX_BODY_CHARS || hasIntermediate) return null;
  const number = end - from === 1 ? 0 : Number(source.slice(from, end - 1));
  const final = source[end - 1];
  const isPlayed = final === 'C' || final === 'D' || final === 'G' || final === 'J' || final === 'K';
  return isPlayed && number >= 0 ? { end, final, number } : null;
}

/** Walks the places where something may be overwritten: from front to back, a few searches for the whole text. */
export class OverwritingPlaces {
  readonly #source: string;
  readonly #introducers: Introducers;
  #return = -1;
  #backspace = -1;

  constructor(source: string) {
    this.#source = source;
    this.#introducers = new Introducers(source);
  }

  /** The first one at or after `from`; -1 if not found. */
  next(from: number): number {
    if (this.#return < from) this.#return = this.#loneReturn(from);
    if (this.#backspace < from) this.#backspace = indexOrEnd(this.#source, '\b', from);
    const sequence = this.#introducers.next(from);
    const first = Math.min(this.#return, this.#backspace, sequence < 0 ? this.#source.length : sequence);
    return first >= this.#source.length ? -1 : first;
  }

  /** The carriage return of a CRLF belongs to the line end. */
  #loneReturn(from: number): number {
    let at = indexOrEnd(this.#source, '\r', from);
    while (this.#source.charCodeAt(at + 1) === 0x0a) at = indexOrEnd(this.#source, '\r', at + 2);
    return at;
  }
}

/** The line around `at`, without its line end: a carriage return before the end is part of the line end, or will be. */
export function playedLine(source: string, at: number): { start: number; end: number; lineEnd: number } {
  const start = source.lastIndexOf('\n', at) + 1;
  const lineEnd = indexOrEnd(source, '\n', at);
  const end = lineEnd > start && source.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd;
  return { start, end, lineEnd };
}

/** A word, and not the unit of a number ("12kB", "12 kB"). */
const WORD = /(?<![\p{L}\p{N}]|\p{N} )\p{L}+/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const ONLY_SPACES = /^ *$/;
/** A spinner is this short; a ruled line is longer. */
const SPINNER_MAX_CHARS = 4;

/**
 * Whether `next`, written over `shown` after a bare carriage return, is a later state of the same thing, so that `shown`
 * no longer matters. Old line ends and carriage returns in data are not progress, though a terminal overwrites there too.
 */
export function supersedes(next: string, shown: string, isOnlyLine: boolean): boolean {
  const percent = shown.includes('%') && next.includes('%');
  if (percent && !isOnlyLine) return true;
  if (ONLY_SPACES.test(shown)) return true;
  if (ONLY_SPACES.test(next)) return next.length >= shown.length;
  if (!LETTER_OR_DIGIT.test(shown)) return !isOnlyLine || shown.length <= SPINNER_MAX_CHARS;
  return (percent || !isOnlyLine) && firstWord(shown) === firstWord(next);
}

function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? '';
}
