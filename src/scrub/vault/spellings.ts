import { copyText } from './guard.ts';

/** Characters kept of what stands on either side of a spelling in an answer. */
const AROUND_CHARS = 32;
/** Places remembered of one spelling, the latest. */
const MAX_PLACES = 8;
/** Spellings of one secret. */
const MAX_SPELLINGS = 16;

interface Place {
  before: string;
  after: string;
  /** Counts upwards: the larger, the later it was seen. */
  seen: number;
}

/**
 * The texts that one token stands for: a key with line breaks and the same key as one line of JSON, a password and its
 * base64. The text around a token, as the agent saw it, decides which of them a token in a file means.
 */
export class Spellings {
  readonly #places = new Map<string, Place[]>();
  #seen = 0;
  #chars = 0;

  /** Characters of all spellings together. */
  get chars(): number {
    return this.#chars;
  }

  has(text: string): boolean {
    return this.#places.has(text);
  }

  /** Returns false if there are too many spellings to tell apart later. The value itself always fits. */
  add(text: string, isValue: boolean): boolean {
    if (this.#places.has(text)) return true;
    if (this.#places.size >= MAX_SPELLINGS && !isValue) return false;
    this.#places.set(copyText(text), []);
    this.#chars += text.length;
    return true;
  }

  /** Remembers that `spelling` was masked in `shown`, a text of which nothing is secret, from `start` to `end`. */
  rememberPlace(spelling: string, shown: string, start: number, end: number): void {
    const places = this.#places.get(spelling);
    if (places === undefined) return;
    if (places.length >= MAX_PLACES) places.shift();
    this.#seen += 1;
    places.push({ ...copied(around(shown, start, end)), seen: this.#seen });
  }

  /** Returns the spelling that a token at this place stands for: the best fit, the latest of equals. */
  at(text: string, start: number, end: number): string | undefined {
    const [only, ...others] = this.#places.keys();
    if (others.length === 0) return only;
    const here = around(text, start, end);
    let best = { spelling: only, fit: -1, seen: -1 };
    for (const [spelling, places] of this.#places)
      for (const place of places) {
        const fit = commonEnd(place.before, here.before) + commonStart(place.after, here.after);
        if (fit > best.fit || (fit === best.fit && place.seen > best.seen)) best = { spelling, fit, seen: place.seen };
      }
    return best.spelling;
  }
}

function around(text: string, start: number, end: number): { before: string; after: string } {
  return { before: text.slice(Math.max(0, start - AROUND_CHARS), start), after: text.slice(end, end + AROUND_CHARS) };
}

/** A slice would keep all of the text it was cut from. */
function copied({ before, after }: { before: string; after: string }): { before: string; after: string } {
  return { before: copyText(before), after: copyText(after) };
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
