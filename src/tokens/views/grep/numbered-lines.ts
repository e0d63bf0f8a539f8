import { cutAfter, cutBefore } from '../../cut-points.ts';
import type { LineNumbers } from '../line-numbers.ts';

/** Nothing more is shown beyond this size, because a line of one character is printed with ten. UTF-16 units. */
const OUTPUT_MAX_CHARS = 96 * 1024 * 1024;

/** A line of the text without its line end; `number` from 1 in the kept text. */
export interface Line extends Span {
  number: number;
}

/** Prints lines as `grep -n -C` does: `12:text` for one that was found, `13-text` around it, `--` between groups. */
export class NumberedLines {
  readonly #text: string;
  readonly #numbers: LineNumbers;
  readonly #separator: string;
  readonly #out: string[] = [];
  #chars = 0;
  /** Where the line begins that follows the last one printed, and its number. */
  #next = 0;
  #nextNumber = 1;
  /** The last line to be printed because of the ones found so far. */
  #until = 0;
  /** Lines printed in part, because they are long. */
  shortened = 0;
  /** Lines found that there was no more room for. */
  leftOut = 0;

  constructor(text: string, { separated, numbers }: { separated: boolean; numbers: LineNumbers }) {
    this.#text = text;
    this.#numbers = numbers;
    this.#separator = separated ? '--\n' : '';
  }

  /**
   * Prints a line, later than all before it, with the lines around it. `found` returns the places in a long line that
   * must be seen, counted from its start.
   */
  add(
    line: Line,
    around: { before: number; after: number },
    found: () => readonly Span[],
    mark: ':' | '-' = ':',
  ): void {
    if (line.number < this.#nextNumber) return;
    this.#printAfter(line.number);
    const first = this.#walkBack(line, around.before);
    if (first.number > this.#nextNumber && this.#out.length > 0) this.#write(this.#separator);
    this.#next = first.start;
    this.#nextNumber = first.number;
    while (this.#nextNumber < line.number) this.#printNext('-', noPlaces);
    if (this.#chars < OUTPUT_MAX_CHARS) this.#printNext(mark, found);
    else this.leftOut += 1;
    this.#until = Math.max(this.#until, line.number + around.after);
  }

  finish(): string {
    this.#printAfter(Number.POSITIVE_INFINITY);
    return this.#out.join('');
  }

  /** What is still to be printed before line `number`. */
  #printAfter(number: number): void {
    while (this.#nextNumber <= this.#until && this.#nextNumber < number && this.#next < this.#text.length)
      this.#printNext('-', noPlaces);
  }

  /** Up to `count` lines back, but none that is printed already. */
  #walkBack({ start, number }: Line, count: number): { start: number; number: number } {
    const first = Math.max(number - count, this.#nextNumber);
    let at = start;
    for (let left = number - first; left > 0; left -= 1) at = at < 2 ? 0 : this.#text.lastIndexOf('\n', at - 2) + 1;
    return { start: at, number: first };
  }

  #printNext(mark: ':' | '-', found: () => readonly Span[]): void {
    const newline = this.#text.indexOf('\n', this.#next);
    const end = newline === -1 ? this.#text.length : newline;
    if (this.#chars < OUTPUT_MAX_CHARS) this.#print(mark, this.#text.slice(this.#next, end), found);
    this.#next = end + 1;
    this.#nextNumber += 1;
  }

  #print(mark: ':' | '-', line: string, found: () => readonly Span[]): void {
    if (this.#numbers.isInGap(this.#next)) {
      this.#write(`${line}\n`);
      return;
    }
    const isLong = line.length > SHOWN_MAX_CHARS;
    if (isLong) this.shortened += 1;
    this.#write(`${this.#numbers.of(this.#nextNumber)}${mark}${isLong ? partsOf(line, found()) : line}\n`);
  }

  #write(text: string): void {
    this.#chars += text.length;
    this.#out.push(text);
  }
}

function noPlaces(): readonly Span[] {
  return [];
}

/** Half open, UTF-16 offsets. */
export interface Span {
  start: number;
  end: number;
}

/** A longer line is shown in parts. UTF-16 units, like all lengths here. */
const SHOWN_MAX_CHARS = 2_000;
/** How much of a long line is shown before and behind a match, and of the match itself. */
const AROUND_CHARS = 240;
const MATCH_MAX_CHARS = 1_000;
const LEFT_OUT = '…';

/** The parts of a long line around what was found in it, first ones first, with `…` for what is left out. */
function partsOf(line: string, found: readonly Span[]): string {
  const parts: Span[] = [];
  let room = SHOWN_MAX_CHARS;
  for (const match of found.length === 0 ? [{ start: 0, end: 0 }] : found) {
    const part = partAround(line, match);
    const last = parts.at(-1);
    const isJoined = last !== undefined && part.start <= last.end;
    const size = part.end - (isJoined ? last.end : part.start);
    if (parts.length > 0 && size > room) break;
    room -= size;
    if (isJoined) last.end = Math.max(last.end, part.end);
    else parts.push(part);
  }
  const text = parts.map(({ start, end }) => line.slice(start, end)).join(LEFT_OUT);
  const isFromStart = parts[0]?.start === 0;
  return `${isFromStart ? '' : LEFT_OUT}${text}${parts.at(-1)?.end === line.length ? '' : LEFT_OUT}`;
}

function partAround(line: string, { start, end }: Span): Span {
  const last = Math.min(end, start + MATCH_MAX_CHARS);
  return {
    start: cutBefore(line, Math.max(0, start - AROUND_CHARS)),
    end: cutAfter(line, Math.min(line.length, last + AROUND_CHARS)),
  };
}
