import { firstIndex } from './binary-search.ts';

/** Half open, UTF-16 offsets. */
export interface Span {
  start: number;
  end: number;
}

/** Another reading of a text, or of parts of it, with the way back to where its characters come from. */
export interface View {
  text: string;
  /** Returns the range of the original that a range of the view stands for. Null if the range joins separate parts. */
  toOriginal(start: number, end: number): Span | null;
}

/** Returns null if the text has nothing to be read this way, after a cheap test. Time is linear in the text. */
export type ViewOf = (text: string) => View | null;

/** Stands between parts that are not neighbours in the original. */
const CUT = '\n\n';

/** Pieces kept apart before they are joined: a text of 64 MB can have as many pieces as characters. */
const MAX_PIECES = 65_536;

/** A growing list of 32-bit numbers: four bytes each, outside the heap of a thread once there are many. */
class Offsets {
  #values: Int32Array | null = null;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    this.#values ??= new Int32Array(16);
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  get(index: number): number | undefined {
    return index < this.#length ? this.#values?.[index] : undefined;
  }
}

/** Builds a view piece by piece. */
export class ViewBuilder {
  readonly #original: string;
  #pieces: string[] = [];
  #text = '';
  /** Per piece: where it begins in the view, and its range of the original; -1 for a cut. */
  readonly #at = new Offsets();
  readonly #from = new Offsets();
  readonly #to = new Offsets();
  #length = 0;

  constructor(original: string) {
    this.#original = original;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  copy(from: number, to: number): void {
    if (from < to) this.put(this.#original.slice(from, to), from, to);
  }

  /**
   * Adds a piece. If it is as long as its range, it stands for it character by character; otherwise for all of it at
   * once.
   */
  put(piece: string, from: number, to: number): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    if (this.#pieces.length === MAX_PIECES) this.#join();
    this.#at.push(this.#length);
    this.#from.push(from);
    this.#to.push(to);
    this.#length += piece.length;
  }

  cut(): void {
    if (!this.isEmpty) this.put(CUT, -1, -1);
  }

  build(): View {
    this.#join();
    return { text: this.#text, toOriginal: (start, end) => this.#toOriginal(start, end) };
  }

  #join(): void {
    this.#text += this.#pieces.join('');
    this.#pieces = [];
  }

  #toOriginal(start: number, end: number): Span | null {
    let from = Number.POSITIVE_INFINITY;
    let to = 0;
    for (let piece = this.#pieceAt(start); (this.#at.get(piece) ?? end) < end; piece++) {
      const range = this.#rangeOf(piece, start, end);
      if (range === null) return null;
      from = Math.min(from, range.start);
      to = Math.max(to, range.end);
    }
    return from < to ? { start: from, end: to } : null;
  }

  #rangeOf(piece: number, start: number, end: number): Span | null {
    const [at = 0, from = -1, to = -1] = [this.#at.get(piece), this.#from.get(piece), this.#to.get(piece)];
    if (from < 0) return null;
    const length = (this.#at.get(piece + 1) ?? this.#length) - at;
    if (length !== to - from) return { start: from, end: to };
    return { start: from + Math.max(0, start - at), end: from + Math.min(length, end - at) };
  }

  #pieceAt(offset: number): number {
    const after = firstIndex(1, this.#at.length, (piece) => (this.#at.get(piece) ?? 0) > offset);
    return after - 1;
  }
}

/** Characters around a change that a rule may need: the name of a value, the rest of a key. */
const CONTEXT_CHARS = 2048;
/** In longer texts fewer characters are kept, so that a large log with a few colours is not read twice. */
const LARGE_CHARS = 65_536;
const LARGE_CONTEXT_CHARS = 320;
/** A part begins and ends at a line end within this many characters, otherwise at a blank. */
const LINE_REACH_CHARS = 256;
const BLANK_REACH_CHARS = 4096;

/** A text with changes, reduced to the surroundings of the changes: the rest was scanned as it is. */
export class Edits {
  readonly #text: string;
  readonly #context: number;
  readonly #builder: ViewBuilder;
  /** The original up to here is in the view, or left out of it. */
  #done = 0;
  /** The original up to here belongs in the view because of the last change. */
  #keepTo = 0;
  #count = 0;

  /** `context`: characters kept on both sides of a change, default 2048, in large texts 320. */
  constructor(text: string, context = text.length < LARGE_CHARS ? CONTEXT_CHARS : LARGE_CONTEXT_CHARS) {
    this.#text = text;
    this.#context = context;
    this.#builder = new ViewBuilder(text);
  }

  /** Changes must come in order of place, without overlap. */
  replace(start: number, end: number, replacement: string): void {
    const from = start - this.#context;
    if (from > this.#keepTo) this.#startPart(from);
    this.#builder.copy(this.#done, start);
    this.#builder.put(replacement, start, end);
    this.#done = end;
    this.#keepTo = end + this.#context;
    this.#count++;
  }

  /** The same, where each piece stands for a range of its own within [start, end). */
  rearrange(start: number, end: number, pieces: readonly { text: string; from: number; to: number }[]): void {
    // A second reading of the same range stands apart from the first.
    if (start < this.#done) this.#builder.cut();
    this.replace(start, end, '');
    for (const { text, from, to } of pieces) this.#builder.put(text, from, to);
  }

  /** Null if nothing was replaced. */
  view(): View | null {
    if (this.#count === 0) return null;
    this.#endPart(this.#text.length);
    return this.#builder.build();
  }

  #startPart(from: number): void {
    if (this.#count > 0) this.#endPart(from + this.#context);
    const start = lineStartBefore(this.#text, from);
    if (start <= this.#done && this.#count > 0) return;
    this.#builder.cut();
    this.#done = Math.max(this.#done, start);
  }

  /** `limit`: where the next change begins. */
  #endPart(limit: number): void {
    const end = Math.min(limit, lineEndAfter(this.#text, Math.min(this.#keepTo, this.#text.length)));
    this.#builder.copy(this.#done, end);
    this.#done = Math.max(this.#done, end);
  }
}

function lineStartBefore(text: string, from: number): number {
  const reach = text.slice(Math.max(0, from - BLANK_REACH_CHARS), from);
  const line = reach.lastIndexOf('\n');
  if (line !== -1 && reach.length - line <= LINE_REACH_CHARS) return from - reach.length + line + 1;
  return from - reach.length + Math.max(line, reach.lastIndexOf(' ')) + 1;
}

function lineEndAfter(text: string, to: number): number {
  const reach = text.slice(to, to + BLANK_REACH_CHARS);
  const line = reach.indexOf('\n');
  if (line !== -1 && line <= LINE_REACH_CHARS) return to + line;
  const blank = reach.search(/\s/);
  return to + (blank === -1 ? reach.length : blank);
}

/**
 * Replaces every match of a pattern (flag g) by what `read` returns; null leaves it as it is. `context` as in Edits.
 */
export function editMatches(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => string | null,
  context?: number,
): View | null {
  const edits = new Edits(text, context);
  for (const match of text.matchAll(pattern)) {
    const replacement = read(match);
    if (replacement !== null) edits.replace(match.index, match.index + match[0].length, replacement);
  }
  return edits.view();
}
