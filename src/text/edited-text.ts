import { firstIndex } from './binary-search.ts';

/** A text made from another one by leaving parts out. Never longer than it, in UTF-16 units and in bytes. */
export interface Edited {
  text: string;
  map: PartMap;
}

/** Most places that one step changes; the text after the last one stays as it is. */
const MAX_EDITS = 1 << 22;
/** Pieces joined at a time: a longer chain outlives the young generation and is copied repeatedly. */
const PIECES_AT_ONCE = 512;

/** Changes to one text, made from front to back. */
export class Edit {
  readonly #source: string;
  readonly #parts = new Parts(64);
  #text = '';
  readonly #pieces: string[] = [];
  #length = 0;
  /** The source before this place is done: up to the end of the last change, or of what was kept after it. */
  #done = 0;
  #edits = 0;
  /** Whether the last change left something out and nothing was kept after it. */
  #droppedLast = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Leaves [from, to) out. */
  drop(from: number, to: number): void {
    if (this.#droppedLast && from === this.#done) this.#done = to;
    else this.replace(from, to, '');
  }

  /** Replaces [from, to) by the shorter `text`, as one unit. */
  replace(from: number, to: number, text: string): void {
    if (this.#edits === MAX_EDITS) return;
    this.#edits++;
    this.#keepUpTo(from);
    this.#parts.push(this.#length, from);
    this.#add(text);
    this.#done = to;
    this.#droppedLast = text === '';
  }

  /** Null if nothing was changed. */
  finish(): Edited | null {
    if (this.#edits === 0) return null;
    this.#keepUpTo(this.#source.length);
    this.#parts.push(this.#length, this.#source.length);
    this.#join();
    return { text: this.#text, map: this.#parts.finish() };
  }

  #keepUpTo(from: number): void {
    if (from === this.#done) return;
    this.#parts.push(this.#length, this.#done);
    this.#add(this.#source.slice(this.#done, from));
    this.#done = from;
  }

  #add(text: string): void {
    if (this.#pieces.push(text) === PIECES_AT_ONCE) this.#join();
    this.#length += text.length;
  }

  #join(): void {
    this.#text += this.#pieces.join('');
    this.#pieces.length = 0;
  }
}

/**
 * Maps parts of a text to parts of its source: part i is [text[i], text[i + 1]) and stands for [source[i], source[i +
 * 1]), UTF-16 offsets; the last entries are both lengths. Parts of equal length have the same characters. Other parts
 * are rewritten (always shorter in the text, often empty) and are never cut.
 */
export interface PartMap {
  readonly text: Int32Array;
  readonly source: Int32Array;
}

/** The map of a text that is its own source. */
export function sameText(length: number): PartMap {
  return { text: Int32Array.of(0, length), source: Int32Array.of(0, length) };
}

/** Returns the last part that begins before `offset`, otherwise the first part. Parts of no length are after it. */
export function partBefore(map: PartMap, offset: number): number {
  return firstIndex(1, map.text.length - 1, (part) => entryAt(map.text, part) >= offset) - 1;
}

/** Whether `part` was rewritten, so that a place within it has no place of its own in the source. */
export function isRewritten(map: PartMap, part: number): boolean {
  return (
    entryAt(map.text, part + 1) - entryAt(map.text, part) !== entryAt(map.source, part + 1) - entryAt(map.source, part)
  );
}

/** The map of a text made with `second` from the text that was made with `first`. */
export function compose(first: PartMap, second: PartMap): PartMap {
  const parts = new Parts(first.text.length + second.text.length);
  let [i, j] = [0, 0];
  while (i < first.text.length || j < second.text.length) {
    const x = Math.min(entryAt(first.text, i), entryAt(second.source, j));
    const text = placeOf(second.source, second.text, j, x);
    const hasSource = entryAt(first.text, i) === x;
    const source = placeOf(first.text, first.source, i, x);
    if (text >= 0 && source >= 0) parts.push(text, source);
    // Two entries of `first` at one place are a deletion there; `second` waits for the last of them.
    if (!hasSource || entryAt(first.text, i + 1) !== x) j += entryAt(second.source, j) === x ? 1 : 0;
    i += hasSource ? 1 : 0;
  }
  return parts.finish();
}

/** Returns where `to` maps `x`, if `from[next]` is the first entry at or after it; -1 within a rewritten part. */
function placeOf(from: Int32Array, to: Int32Array, next: number, x: number): number {
  if (entryAt(from, next) === x) return entryAt(to, next);
  const [start, begin] = [entryAt(from, next - 1), entryAt(to, next - 1)];
  return entryAt(from, next) - start === entryAt(to, next) - begin ? begin + (x - start) : -1;
}

/** Beyond the end: a place that is never reached. */
function entryAt(places: Int32Array, index: number): number {
  return places[index] ?? Number.MAX_SAFE_INTEGER;
}

/** A map as it is made, from front to back. */
class Parts {
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
