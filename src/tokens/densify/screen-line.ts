import { columns, columnWidth } from './column-width.ts';

/** The widest line that is followed. Bars and counters are far below it. */
export const LINE_MAX_COLUMNS = 4096;

const BLANK = 0x20;
/** The second column of a wide character. */
const CONTINUED = 0xffffffff;

/** One line of a terminal without a right margin, and the cursor in it. */
export class ScreenLine {
  readonly #source: string;
  readonly #cells = new Uint32Array(LINE_MAX_COLUMNS);
  /** What stands there is this part of the source, and not yet in the cells; null: it is in the cells. */
  #part: { from: number; to: number } | null = null;
  #width = 0;
  #column = 0;
  /** The cells before it are known to be blank. */
  #blank = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#width === 0;
  }

  get column(): number {
    return this.#column;
  }

  clear(): void {
    this.#column = 0;
    this.#empty();
  }

  /** Puts the cursor at `column`, the first being 0. False: too far. */
  moveTo(column: number): boolean {
    this.#column = Math.max(0, column);
    return column < LINE_MAX_COLUMNS;
  }

  /** Writes a part of the source that holds no control character over what stands there. False: not known how. */
  write(from: number, to: number): boolean {
    const width = to - from > LINE_MAX_COLUMNS ? -1 : columns(this.#source, from, to);
    if (width < 0 || this.#column + width >= LINE_MAX_COLUMNS) return false;
    if (this.#column === 0 && width >= this.#width) {
      this.#part = { from, to };
      this.#width = width;
      this.#column = width;
      return true;
    }
    this.#load();
    this.#pad();
    this.#blank = Math.min(this.#blank, this.#column);
    this.#put(from, to);
    return true;
  }

  /** 0: from the cursor to the end; 1: up to the cursor; 2: all of it. The cursor stays. */
  erase(which: number): void {
    if (which === 2 || (which === 0 && this.#column === 0)) {
      this.#empty();
    } else if (which === 1 || this.#column < this.#width) {
      this.#load();
      if (which === 0) this.#cut();
      else this.#blankUpTo(Math.min(this.#column + 1, this.#width));
    }
  }

  /** What a person sees. */
  text(): string {
    if (this.#part !== null) return this.#source.slice(this.#part.from, this.#part.to);
    let shown = '';
    for (let at = 0; at < this.#width; at++) {
      const cell = this.#cells[at] ?? BLANK;
      if (cell !== CONTINUED) shown += String.fromCodePoint(cell);
    }
    return shown;
  }

  #empty(): void {
    this.#part = null;
    this.#width = 0;
    this.#blank = 0;
  }

  #load(): void {
    if (this.#part === null) return;
    const { from, to } = this.#part;
    const column = this.#column;
    this.#column = 0;
    this.#empty();
    this.#put(from, to);
    this.#column = column;
  }

  #pad(): void {
    while (this.#width < this.#column) this.#cells[this.#width++] = BLANK;
  }

  #put(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const codePoint = this.#source.codePointAt(at) ?? BLANK;
      if (codePoint > 0xffff) at++;
      this.#set(this.#column++, codePoint);
      if (columnWidth(codePoint) === 2) this.#set(this.#column++, CONTINUED);
    }
    this.#width = Math.max(this.#width, this.#column);
  }

  /** A wide character of which one half is written over leaves a blank in the other. */
  #set(at: number, cell: number): void {
    if (at < this.#width && this.#cells[at] === CONTINUED && cell !== CONTINUED) this.#cells[at - 1] = BLANK;
    if (at + 1 < this.#width && this.#cells[at + 1] === CONTINUED) this.#cells[at + 1] = BLANK;
    this.#cells[at] = cell;
  }

  #blankUpTo(end: number): void {
    for (let at = end - 1; at >= this.#blank; at--) this.#set(at, BLANK);
    this.#blank = Math.max(this.#blank, end);
  }

  #cut(): void {
    if (this.#cells[this.#column] === CONTINUED) this.#cells[this.#column - 1] = BLANK;
    this.#width = this.#column;
    this.#blank = Math.min(this.#blank, this.#width);
  }
}
