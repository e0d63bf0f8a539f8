import { firstIndex } from './binary-search.ts';

/** Half open, UTF-16 offsets. */
export interface Span {
  start: number;
  end: number;
}

/** A text read in another way, or parts of it, and the way back to where its characters come from. */
export interface View {
  text: string;
  /** What of the original a range of the view stands for, its ends included. Null for one that joins separate parts. */
  toOriginal(start: number, end: number): Span | null;
}

/** Null: the text holds nothing to be read that way; a cheap test says so. Time is linear in the text. */
export type ViewOf = (text: string) => View | null;

/** Stands between parts that are not neighbours in the original. */
const CUT = '\n\n';

/** Pieces that are kept apart before they are joined: a text of 64 MB can have as many pieces as characters. */
const MAX_PIECES = 65_536;

/** Growing numbers of 32 bits: four bytes each, outside the heap of a thread once there are many. */
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

  /** A piece as long as its range stands for it character by character, another for all of it at once. */
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

/** A view of a view, as one of the original. */
export function compose(outer: View, inner: View): View {
  return {
    text: outer.text,
    toOriginal: (start, end) => {
      const range = outer.toOriginal(start, end);
      return range && inner.toOriginal(range.start, range.end);
    },
  };
}

/** Characters around a change that a rule may need to see: the name of a value, the rest of a key. */
const CONTEXT_CHARS = 2048;
/** From this length on they are fewer, so that a large log with a few colours is not read twice. */
const LARGE_CHARS = 65_536;
const LARGE_CONTEXT_CHARS = 320;
/** A part begins and ends with a line where one does within so many characters more, else at a blank. */
const LINE_REACH_CHARS = 256;
const BLANK_REACH_CHARS = 4096;

/** A text with changes, reduced to the surroundings of the changes: what none is near was scanned as it is. */
export class Edits {
  readonly #text: string;
  readonly #context: number;
  readonly #builder: ViewBuilder;
  /** Up to here the original is in the view, or left out of it. */
  #done = 0;
  /** Up to here it belongs in the view because of the last change. */
  #keepTo = 0;
  #count = 0;

  /** `context`: characters kept on both sides of a change, default 2048, in large texts 320. */
  constructor(text: string, context = text.length < LARGE_CHARS ? CONTEXT_CHARS : LARGE_CONTEXT_CHARS) {
    this.#text = text;
    this.#context = context;
    this.#builder = new ViewBuilder(text);
  }

  /** In order of place, without overlap. */
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
 * The text with every match of a pattern (flag g) put in other words. `read` gives null to leave one as it is.
 * `context` as in Edits.
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
