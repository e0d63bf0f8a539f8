/**
 * Which part of a source each part of a text stands for: part i is [text[i], text[i + 1]) and stands for
 * [source[i], source[i + 1]), UTF-16 offsets; the last entries are both lengths. Equal lengths: the same characters.
 * Unequal (always shorter in the text, often empty): rewritten, one unit that is never cut.
 */
export interface PartMap {
  readonly text: Int32Array;
  readonly source: Int32Array;
}

/** The map of a text that is its own source. */
export function sameText(length: number): PartMap {
  return { text: Int32Array.of(0, length), source: Int32Array.of(0, length) };
}

/** The last part that begins before `offset`; of a text without one the first. Parts of no length are behind it. */
export function partBefore(map: PartMap, offset: number): number {
  let [low, high] = [0, map.text.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at(map.text, middle) < offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether `part` was rewritten: a place within it has no place of its own in the source. */
export function isRewritten(map: PartMap, part: number): boolean {
  return at(map.text, part + 1) - at(map.text, part) !== at(map.source, part + 1) - at(map.source, part);
}

/** The map of a text made with `second` from the text that was made with `first`. */
export function compose(first: PartMap, second: PartMap): PartMap {
  const parts = new Parts(first.text.length + second.text.length);
  let [i, j] = [0, 0];
  while (i < first.text.length || j < second.text.length) {
    const x = Math.min(at(first.text, i), at(second.source, j));
    const text = placeOf(second.source, second.text, j, x);
    const hasSource = at(first.text, i) === x;
    const source = placeOf(first.text, first.source, i, x);
    if (text >= 0 && source >= 0) parts.push(text, source);
    // Two entries of `first` at one place are a deletion there: `second` waits for the last of them.
    if (!hasSource || at(first.text, i + 1) !== x) j += at(second.source, j) === x ? 1 : 0;
    i += hasSource ? 1 : 0;
  }
  return parts.finish();
}

/** Where `x` lies by `to`, if `from[next]` is the first entry at or behind it; -1: within a rewritten part. */
function placeOf(from: Int32Array, to: Int32Array, next: number, x: number): number {
  if (at(from, next) === x) return at(to, next);
  const [start, begin] = [at(from, next - 1), at(to, next - 1)];
  return at(from, next) - start === at(to, next) - begin ? begin + (x - start) : -1;
}

/** Behind the end: a place that is never reached. */
function at(places: Int32Array, index: number): number {
  return places[index] ?? Number.MAX_SAFE_INTEGER;
}

/** A map as it is made, from front to back. */
export class Parts {
  #text: Int32Array;
  #source: Int32Array;
  #count = 0;

  constructor(capacity: number) {
    this.#text = new Int32Array(capacity);
    this.#source = new Int32Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** A part begins here, or the last one ends. */
  push(text: number, source: number): void {
    if (this.#count === this.#text.length) {
      this.#text = grown(this.#text);
      this.#source = grown(this.#source);
    }
    this.#text[this.#count] = text;
    this.#source[this.#count++] = source;
  }

  finish(): PartMap {
    return { text: this.#text.slice(0, this.#count), source: this.#source.slice(0, this.#count) };
  }
}

function grown(places: Int32Array): Int32Array {
  const larger = new Int32Array(Math.max(64, places.length * 2));
  larger.set(places);
  return larger;
}
