import { copyText } from './guard.ts';

/** Characters that count of what stands on either side of a spelling in an answer. */
const AROUND_CHARS = 32;
/** Places remembered for one token. */
const MAX_PLACES = 32;

interface Place {
  before: string;
  after: string;
  spelling: string;
  /** Counts upwards: the larger, the later it was seen. */
  seen: number;
}

export interface SpellingsState {
  readonly all: ReadonlySet<string>;
  readonly places: ReadonlyMap<string, Readonly<Place>>;
  readonly seen: number;
}

/**
 * The texts that one token stands for: a key with line breaks and the same key as one line of JSON, a password and its
 * base64. The text around a token, as the agent saw it, decides which of them a token in a file means, so no two of them
 * may have the same surroundings.
 */
export class Spellings {
  readonly #all = new Set<string>();
  /** By the text around. */
  readonly #places = new Map<string, Place>();
  #seen = 0;
  #chars = 0;

  /** As plain data. */
  get state(): SpellingsState {
    return { all: this.#all, places: this.#places, seen: this.#seen };
  }

  /** Takes in the spellings of another process. */
  restore({ all, places, seen }: SpellingsState): void {
    for (const text of all) this.#keep(text);
    for (const [around, place] of places) this.#places.set(around, { ...place, spelling: this.#keep(place.spelling) });
    this.#seen = seen;
  }

  get size(): number {
    return this.#all.size;
  }

  has(text: string): boolean {
    return this.#all.has(text);
  }

  /** Characters of all spellings together. */
  get chars(): number {
    return this.#chars;
  }

  /**
   * Remembers that the token stands for `spelling` in `shown`, a text of which nothing is secret, from `start` to `end`.
   * False if `at` could not return this spelling for the same text again; then another token must stand there.
   */
  take(spelling: string, shown: string, start: number, end: number): boolean {
    const { before, after } = around(shown, start, end);
    const known = this.#places.get(keyOf(before, after));
    this.#seen += 1;
    if (known !== undefined) {
      if (known.spelling !== spelling) return false;
      known.seen = this.#seen;
      return true;
    }
    const isOnly = this.#all.size === 0 || (this.#all.size === 1 && this.#all.has(spelling));
    if (this.#places.size >= MAX_PLACES) return isOnly;
    const kept = this.#keep(spelling);
    const [copiedBefore, copiedAfter] = [copyText(before), copyText(after)];
    this.#places.set(keyOf(copiedBefore, copiedAfter), {
      before: copiedBefore,
      after: copiedAfter,
      spelling: kept,
      seen: this.#seen,
    });
    return true;
  }

  /** Returns the spelling that a token at this place stands for: the best fit, the latest of equals. */
  at(text: string, start: number, end: number): string | undefined {
    const [only] = this.#all;
    if (this.#all.size <= 1) return only;
    const here = around(text, start, end);
    const known = this.#places.get(keyOf(here.before, here.after));
    if (known !== undefined) return known.spelling;
    let best = { spelling: only, fit: -1, seen: -1 };
    for (const { before, after, spelling, seen } of this.#places.values()) {
      const fit = commonEnd(before, here.before) + commonStart(after, here.after);
      if (fit > best.fit || (fit === best.fit && seen > best.seen)) best = { spelling, fit, seen };
    }
    return best.spelling;
  }

  #keep(spelling: string): string {
    for (const known of this.#all) if (known === spelling) return known;
    const copy = copyText(spelling);
    this.#all.add(copy);
    this.#chars += copy.length;
    return copy;
  }
}

function keyOf(before: string, after: string): string {
  return `${before.length} ${before}${after}`;
}

function around(text: string, start: number, end: number): { before: string; after: string } {
  return { before: text.slice(Math.max(0, start - AROUND_CHARS), start), after: text.slice(end, end + AROUND_CHARS) };
}

function commonStart(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  return count;
}

function commonEnd(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a[a.length - 1 - count] === b[b.length - 1 - count]) count += 1;
  return count;
}
