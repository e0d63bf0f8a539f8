/** The widest line that is played. Progress bars and counters are far below it. */
export const LINE_MAX_COLUMNS = 4096;

const BLANK = 0x20;
/** Fills the second column of a wide character. */
const SECOND_COLUMN = 0xffffffff;
/** The place of a blank that no character of the source stands for. */
export const NO_PLACE = -1;

/** A character of a line as it is shown, and its offset in the source (NO_PLACE: the cursor moved past it). */
export interface ShownCell {
  character: string;
  at: number;
}

/** One line of a terminal without a right margin, and the cursor in it. Reused for line after line of one source. */
export class TerminalLine {
  readonly #source: string;
  readonly #codePoints = new Uint32Array(LINE_MAX_COLUMNS);
  /** For each column, the offset in the source of what is shown there. */
  readonly #places = new Int32Array(LINE_MAX_COLUMNS);
  /** The line shows exactly this part of the source, which is not in the columns yet; null: it is in the columns. */
  #part: { from: number; to: number } | null = null;
  #width = 0;
  #column = 0;
  /** All columns before this one are blank. */
  #blankUpTo = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#width === 0;
  }

  /** Columns up to the last one that was written. */
  get width(): number {
    return this.#width;
  }

  get column(): number {
    return this.#column;
  }

  clear(): void {
    this.#column = 0;
    this.#empty();
  }

  /** Moves the cursor to `column`, counted from 0. Returns false if that is too far right to be followed. */
  moveTo(column: number): boolean {
    this.#column = Math.max(0, column);
    return column < LINE_MAX_COLUMNS;
  }

  /**
   * Writes a part of the source that holds no control character over what is shown. Returns false if its width is not
   * known or too large.
   */
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
    this.#blankUpTo = Math.min(this.#blankUpTo, this.#column);
    this.#put(from, to);
    return true;
  }

  /** Erases 0: from the cursor to the end; 1: up to the cursor; 2: everything. The cursor stays. */
  erase(which: number): void {
    if (which === 2 || (which === 0 && this.#column === 0)) {
      this.#empty();
    } else if (which === 1 || this.#column < this.#width) {
      this.#load();
      if (which === 0) this.#cut();
      else this.#eraseUpTo(Math.min(this.#column + 1, this.#width));
    }
  }

  /** Returns what a person sees. */
  text(): string {
    if (this.#part !== null) return this.#source.slice(this.#part.from, this.#part.to);
    let shown = '';
    for (let at = 0; at < this.#width; at++) {
      const codePoint = this.#codePoints[at] ?? BLANK;
      if (codePoint !== SECOND_COLUMN) shown += String.fromCodePoint(codePoint);
    }
    return shown;
  }

  /** Returns the characters of `text` and where each comes from; null if the line shows one part of the source as it is. */
  cells(): ShownCell[] | null {
    if (this.#part !== null) return null;
    const cells: ShownCell[] = [];
    for (let at = 0; at < this.#width; at++) {
      const codePoint = this.#codePoints[at] ?? BLANK;
      if (codePoint === SECOND_COLUMN) continue;
      cells.push({ character: String.fromCodePoint(codePoint), at: this.#places[at] ?? NO_PLACE });
    }
    return cells;
  }

  #empty(): void {
    this.#part = null;
    this.#width = 0;
    this.#blankUpTo = 0;
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
    while (this.#width < this.#column) {
      this.#places[this.#width] = NO_PLACE;
      this.#codePoints[this.#width++] = BLANK;
    }
  }

  #put(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const place = at;
      const codePoint = this.#source.codePointAt(at) ?? BLANK;
      if (codePoint > 0xffff) at++;
      this.#set(this.#column++, codePoint, place);
      if (columnWidth(codePoint) === 2) this.#set(this.#column++, SECOND_COLUMN, place);
    }
    this.#width = Math.max(this.#width, this.#column);
  }

  /** Overwriting one half of a wide character blanks the other half. */
  #set(at: number, codePoint: number, place: number): void {
    const codePoints = this.#codePoints;
    if (at < this.#width && codePoints[at] === SECOND_COLUMN && codePoint !== SECOND_COLUMN) this.#blank(at - 1);
    if (at + 1 < this.#width && codePoints[at + 1] === SECOND_COLUMN) this.#blank(at + 1);
    codePoints[at] = codePoint;
    this.#places[at] = place;
  }

  #blank(at: number): void {
    this.#codePoints[at] = BLANK;
    this.#places[at] = NO_PLACE;
  }

  #eraseUpTo(end: number): void {
    for (let at = end - 1; at >= this.#blankUpTo; at--) this.#set(at, BLANK, NO_PLACE);
    this.#blankUpTo = Math.max(this.#blankUpTo, end);
  }

  #cut(): void {
    if (this.#codePoints[this.#column] === SECOND_COLUMN) this.#blank(this.#column - 1);
    this.#width = this.#column;
    this.#blankUpTo = Math.min(this.#blankUpTo, this.#width);
  }
}

/**
 * Marks that share the column of the character before them, joiners and the like: terminals disagree on their width.
 */
const UNSURE = /[\p{M}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
/** Two columns wide: emoji, Hangul, Chinese and Japanese. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Returns the columns of text[from, to), which holds no control character; -1 if terminals disagree. */
function columns(text: string, from: number, to: number): number {
  let total = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x300) {
      total++;
      continue;
    }
    const codePoint = text.codePointAt(at) ?? code;
    const width = columnWidth(codePoint);
    if (width === 0) return -1;
    total += width;
    if (codePoint > 0xffff) at++;
  }
  return total;
}

/** Returns the columns of a printable character: 1 or 2; 0 if terminals disagree. */
function columnWidth(codePoint: number): 0 | 1 | 2 {
  if (codePoint < 0x300 || isPlainSymbol(codePoint)) return 1;
  const character = String.fromCodePoint(codePoint);
  if (UNSURE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Bars, boxes, blocks and Braille spinners. */
function isPlainSymbol(codePoint: number): boolean {
  return (codePoint >= 0x2500 && codePoint < 0x25fd) || (codePoint >= 0x2800 && codePoint < 0x2900);
}
