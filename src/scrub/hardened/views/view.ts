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
    let low = 0;
    let high = this.#at.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#at.get(middle) ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
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
