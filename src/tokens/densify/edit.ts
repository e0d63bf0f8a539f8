import type { PartMap } from './part-map.ts';
import { Parts } from './part-map.ts';

/** A text made from another one by leaving parts out. Never longer, in UTF-16 units and in bytes. */
export interface Edited {
  text: string;
  map: PartMap;
}

/** What one step changes in a text. At most this many places: what lies behind the last stays as it is. */
const MAX_EDITS = 1 << 22;
/** So many pieces are joined at a time: a longer chain outlives the young generation, and is copied again and again. */
const PIECES_AT_ONCE = 512;

/** Changes to one text, made from front to back. */
export class Edit {
  readonly #source: string;
  readonly #parts = new Parts(64);
  #text = '';
  readonly #pieces: string[] = [];
  #length = 0;
  /** What lies before is done: up to the end of the last change, or of what was kept behind it. */
  #done = 0;
  #edits = 0;
  /** Whether the last change left something out, and nothing was kept behind it. */
  #droppedLast = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Leaves [from, to) out. */
  drop(from: number, to: number): void {
    if (this.#droppedLast && from === this.#done) this.#done = to;
    else this.replace(from, to, '');
  }

  /** Puts the shorter `text` in the place of [from, to): one unit. */
  replace(from: number, to: number, text: string): void {
    if (this.#edits === MAX_EDITS) return;
    this.#edits++;
    this.#keepUpTo(from);
    this.#parts.push(this.#length, from);
    this.#add(text);
    this.#done = to;
    this.#droppedLast = text === '';
  }

  /** Null when nothing was changed. */
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
