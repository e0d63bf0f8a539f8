import type { Edited } from './edit.ts';
import { Edit } from './edit.ts';
import { LINE_MAX_COLUMNS, ScreenLine } from './screen-line.ts';
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
} from './sequences.ts';
import { supersedes } from './supersede.ts';

const DIGIT_ZERO = 0x30;
/** What leaves the line: from here on it is not known where an erasing to the end of the screen would begin. */
const OTHER_LINE = new RegExp(
  `(?:${String.fromCharCode(ESC)}\\[|${String.fromCharCode(CSI)})[0-9;]*[ABEFHLMSTdfr]|${String.fromCharCode(ESC)}[78DEMc]`,
);

/** Stands for text of another width: nothing can be written over a part of it. */
const SECRET = '[SECRET';

/** Shows each line as a terminal would in the end. Null: nothing is written over. */
export function collapseProgress(source: string): Edited | null {
  const candidates = new Candidates(source);
  let at = candidates.next(0);
  if (at < 0) return null;
  const edit = new Edit(source);
  const collapse = new LineCollapse(source);
  while (at >= 0) {
    const start = source.lastIndexOf('\n', at) + 1;
    const end = indexOrEnd(source, '\n', at);
    for (const group of collapse.groups(start, endWithoutCr(source, start, end))) {
      edit.replace(group.from, group.to, group.text);
    }
    at = candidates.next(end);
  }
  return edit.finish();
}

/** A carriage return before the end is part of the line end, or will be. */
function endWithoutCr(source: string, start: number, end: number): number {
  return end > start && source.charCodeAt(end - 1) === CR ? end - 1 : end;
}

/** Walks the places where something may be written over: from front to back, a few searches for the whole text. */
class Candidates {
  readonly #source: string;
  readonly #introducers: Introducers;
  #return = -1;
  #backspace = -1;

  constructor(source: string) {
    this.#source = source;
    this.#introducers = new Introducers(source);
  }

  /** The first one at or after `from`; -1 when there is none. */
  next(from: number): number {
    if (this.#return < from) this.#return = this.#loneReturn(from);
    if (this.#backspace < from) this.#backspace = indexOrEnd(this.#source, '\b', from);
    const sequence = this.#introducers.next(from);
    const first = Math.min(this.#return, this.#backspace, sequence < 0 ? this.#source.length : sequence);
    return first >= this.#source.length ? -1 : first;
  }

  /** Of a CRLF it is the line end. */
  #loneReturn(from: number): number {
    let at = indexOrEnd(this.#source, '\r', from);
    while (this.#source.charCodeAt(at + 1) === 0x0a) at = indexOrEnd(this.#source, '\r', at + 2);
    return at;
  }
}

/** A part of a line, and what a terminal shows of it. */
interface Group {
  from: number;
  to: number;
  text: string;
}

/** Plays lines of one text on a terminal's line. */
class LineCollapse {
  readonly #source: string;
  readonly #screen: ScreenLine;
  readonly #only: boolean;
  #otherLine: number | null = null;
  #groups: Group[] = [];
  #groupStart = 0;

  constructor(source: string) {
    this.#source = source;
    this.#screen = new ScreenLine(source);
    this.#only = !source.includes('\n');
  }

  /** The parts of line [start, end) that become shorter; none: the line stays as it is. */
  groups(start: number, end: number): readonly Group[] {
    this.#screen.clear();
    this.#groups = [];
    this.#groupStart = start;
    let at = start;
    while (at < end) {
      at = this.#step(at, end);
      if (at < 0) return [];
    }
    this.#closeGroup(end);
    return this.#settled() && this.#hasWholeSecrets(start, end)
      ? this.#groups.filter(({ from, to, text }) => text.length < to - from)
      : [];
  }

  /** Plays what is at `at` and gives the place behind it; -1: nothing that can be played. */
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
    const writesOver = at > this.#groupStart && this.#source.charCodeAt(at - 1) === CR && !this.#screen.isEmpty;
    const isWhole = stop === end || this.#source.charCodeAt(stop) === CR;
    if (writesOver && isWhole && !supersedes(this.#source.slice(at, stop), this.#screen.text(), this.#only)) {
      this.#closeGroup(at - 1);
      this.#screen.clear();
      this.#groupStart = at;
    }
    return this.#screen.write(at, stop) ? stop : -1;
  }

  /** Erasing in the line and moving in it, with at most one number. */
  #sequence(at: number): number {
    const from = parametersStart(this.#source, at);
    const end = from < 0 ? -1 : sequenceEnd(this.#source, at);
    const hasSign = end - from > 1 && this.#source.charCodeAt(end - 2) < DIGIT_ZERO;
    if (end < 0 || end - from > 5 || hasSign) return -1;
    const number = end - from === 1 ? 0 : Number(this.#source.slice(from, end - 1));
    return number >= 0 && this.#control(this.#source[end - 1] ?? '', number, at) ? end : -1;
  }

  #control(final: string, number: number, at: number): boolean {
    const screen = this.#screen;
    switch (final) {
      case 'J':
        return number === 0 && at < this.#firstOtherLine() && this.#erase(0);
      case 'K':
        return number <= 2 && this.#erase(number);
      case 'D':
        return screen.moveTo(screen.column - Math.max(1, number));
      case 'C':
        return this.#groups.length === 0 && screen.moveTo(screen.column + Math.max(1, number));
      case 'G':
        return this.#groups.length === 0 && screen.moveTo(Math.max(1, number) - 1);
      default:
        return false;
    }
  }

  /** Erasing the whole line ends the groups before too; what is behind this one is theirs, and not known here. */
  #erase(which: number): boolean {
    const isWhole = which === 2 || (which === 0 && this.#screen.column === 0);
    if (!isWhole && this.#groups.length > 0) return false;
    this.#groupStart = this.#groups[0]?.from ?? this.#groupStart;
    this.#groups = [];
    this.#screen.erase(which);
    return true;
  }

  #firstOtherLine(): number {
    if (this.#otherLine === null) {
      const found = this.#source.search(OTHER_LINE);
      this.#otherLine = found < 0 ? this.#source.length : found;
    }
    return this.#otherLine;
  }

  #closeGroup(to: number): void {
    this.#groups.push({ from: this.#groupStart, to, text: this.#screen.text() });
  }

  /** Whether no token of a secret was written over in part: then each part shows what its source shows in one piece. */
  #hasWholeSecrets(start: number, end: number): boolean {
    if (!this.#source.slice(start, end).includes(SECRET)) return true;
    return this.#groups.every(({ from, to, text }) => this.#source.slice(from, to).includes(text));
  }

  /** Whether collapsing what came out would change nothing: no part longer, none a later state of the one before. */
  #settled(): boolean {
    return this.#groups.every(({ from, to, text }, index) => {
      const before = this.#groups[index - 1];
      if (before !== undefined && supersedes(text, before.text, this.#only)) return false;
      return text.length < to - from || text === this.#source.slice(from, to);
    });
  }
}
