import type { Span } from '../../text/offset-map.ts';

/** Lower-cases as Go does for ASCII keywords: U+0130 becomes a plain i (U+212A becomes k anyway). */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

const ASCII = 128;
const FIRST_SMALL = 0x61;
const LAST_SMALL = 0x7a;
/** Between a capital and its small letter. */
const CASE_STEP = 0x20;
const KELVIN = 0x212a;
const DOTTED_I = 0x130;
/** Set in an entry of the table when keywords end in its state. */
const ENDS = 1;
/** From an entry of the table to its state: ASCII as a power of two. */
const STATE_SHIFT = 7;

const LONG_S = '\u017f';
/** Places of one keyword that are kept: one for this many characters of the text, and at least `MIN_PLACES`. */
const CHARS_PER_PLACE = 64;
const MIN_PLACES = 1024;

/** Parts that are searched for keywords beyond ASCII are joined over fewer characters than this: each takes some time. */
const PART_GAP_CHARS = 256;

/** Offsets at which a keyword ends, in order. Null: it may be anywhere, because it is too frequent or not ASCII. */
export type KeywordPlaces = readonly number[] | null;

/** A sigma that ends a word has another small letter, which depends on the text around it. */
const SIGMA = '\u03a3';
const FINAL_SIGMA = '\u03c2';
const SMALL_SIGMA = '\u03c3';

/** By state: the next state for each code that continues a keyword. */
type Trie = Map<number, number>[];

/**
 * Finds which of many keywords a text contains, in one pass (Aho-Corasick over ASCII without NUL; other keywords one by
 * one, around characters that are no ASCII). A keyword counts anywhere and in any case. No lower-case copy of the text is
 * made.
 */
export class KeywordIndex {
  /** At `state * ASCII + code`: the next state times ASCII, with ENDS. */
  readonly #next: Int32Array;
  /** The keyword ids that end in a state, those of its suffixes included. */
  readonly #ends: number[][] = [[]];
  readonly #others: { keyword: string; plain: string; id: number }[] = [];
  /** Characters of the longest of the others. */
  #longestOther = 0;

  /** The position of a keyword in `keywords` is its id. They must be lower case. */
  constructor(keywords: readonly string[]) {
    const trie: Trie = [new Map()];
    for (const [id, keyword] of keywords.entries()) this.#add(trie, keyword, id);
    this.#next = this.#link(trie);
  }

  /** The ids of all keywords in a text. */
  find(text: string): Set<number> {
    const found = new Set<number>();
    this.#findAscii(text, found);
    if (this.#others.length === 0) return found;
    const parts = text.includes(SIGMA) ? [{ start: 0, end: text.length }] : this.#partsBeyondAscii(text, wholeOf(text));
    const lower = parts.map(({ start, end }) => lowerCase(text.slice(start, end)));
    for (const { keyword, id } of this.#others) if (lower.some((part) => part.includes(keyword))) found.add(id);
    return found;
  }

  /**
   * Where the keywords of a text are, by id, in any order. Unlike in `find`, an ſ is an s, as patterns have it: a text with an
   * ſ may hold any keyword anywhere. `windows`: where to look, in order of place; default: everywhere.
   */
  findPlaces(text: string, windows: readonly Span[] = wholeOf(text)): (id: number) => readonly KeywordPlaces[] {
    if (text.includes(LONG_S)) return () => [null];
    const found = this.#placesOfOthers(text, windows);
    for (const [state, places] of this.#placesByState(text, windows))
      for (const id of this.#ends[state] ?? []) {
        const known = found.get(id);
        if (known === undefined) found.set(id, [places]);
        else known.push(places);
      }
    return (id) => found.get(id) ?? [];
  }

  /** Of the keywords that are not in the table, by id. */
  #placesOfOthers(text: string, windows: readonly Span[]): Map<number, KeywordPlaces[]> {
    const found = new Map<number, KeywordPlaces[]>();
    if (this.#others.length === 0) return found;
    const most = mostPlaces(text);
    const places = new Map<number, number[]>();
    for (const { start, end } of this.#partsBeyondAscii(text, windows)) {
      const part = withOneSigma(text.slice(start, end));
      for (const { plain, id } of this.#others)
        for (let at = part.indexOf(plain); at !== -1; at = part.indexOf(plain, at + 1)) {
          const known = places.get(id);
          if (known === undefined) places.set(id, [start + at + plain.length]);
          else if (known.length <= most) known.push(start + at + plain.length);
        }
    }
    for (const [id, list] of places) found.set(id, [list.length > most ? null : list]);
    return found;
  }

  /** The parts of some windows of a text that can hold a keyword that is not in the table, in order of place. */
  #partsBeyondAscii(text: string, windows: readonly Span[]): Span[] {
    const parts: Span[] = [];
    const margin = this.#longestOther;
    for (const window of windows) {
      let last: Span | undefined;
      for (let i = window.start; i < window.end; i++) {
        const code = text.charCodeAt(i);
        if (code < ASCII && code !== 0) continue;
        const [start, end] = [Math.max(window.start, i - margin), Math.min(window.end, i + margin)];
        if (last !== undefined && start <= last.end + PART_GAP_CHARS) {
          last.end = end;
          continue;
        }
        last = { start, end };
        parts.push(last);
      }
    }
    return parts;
  }

  /** By each state that keywords end in: the offsets at which the text led to it. */
  #placesByState(text: string, windows: readonly Span[]): Map<number, number[] | null> {
    const most = mostPlaces(text);
    const found = new Map<number, number[] | null>();
    for (const window of windows) this.#addPlaces(text, window, most, found);
    return found;
  }

  #addPlaces(text: string, { start, end }: Span, most: number, found: Map<number, number[] | null>): void {
    const next = this.#next;
    let entry = 0;
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i);
      const plain = code < ASCII ? code : plainOf(code);
      entry = next[(entry & -ASCII) | plain] ?? 0;
      if ((entry & ENDS) === 0) continue;
      const state = entry >> STATE_SHIFT;
      const places = found.get(state);
      if (places === undefined) found.set(state, [i + 1]);
      else if (places !== null && places.push(i + 1) > most) found.set(state, null);
    }
  }

  #findAscii(text: string, found: Set<number>): void {
    const next = this.#next;
    const length = text.length;
    let seen: Uint8Array | undefined;
    let entry = 0;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      const plain = code < ASCII ? code : plainOf(code);
      entry = next[(entry & -ASCII) | plain] ?? 0;
      if ((entry & ENDS) === 0) continue;
      const state = entry >> STATE_SHIFT;
      seen ??= new Uint8Array(this.#ends.length);
      if (seen[state] === 1) continue;
      seen[state] = 1;
      for (const id of this.#ends[state] ?? []) found.add(id);
    }
  }

  #add(trie: Trie, keyword: string, id: number): void {
    let state = 0;
    for (let i = 0; i < keyword.length; i++) {
      const code = keyword.charCodeAt(i);
      if (code >= ASCII || code === 0) {
        this.#others.push({ keyword, plain: withOneSigma(keyword), id });
        this.#longestOther = Math.max(this.#longestOther, keyword.length);
        return;
      }
      let child = trie[state]?.get(code);
      if (child === undefined) {
        child = trie.push(new Map()) - 1;
        this.#ends.push([]);
        trie[state]?.set(code, child);
      }
      state = child;
    }
    this.#ends[state]?.push(id);
  }

  /**
   * The table, breadth first. Each row starts as a copy of the row of its longest suffix, so that `find` never looks
   * back; copying rows takes a tenth of the time of filling each entry. Capitals lead where their small letters lead.
   */
  #link(trie: Trie): Int32Array {
    const next = new Int32Array(trie.length * ASCII).fill(this.#entryOf(0), 0, ASCII);
    const suffix = new Int32Array(trie.length);
    const queue: number[] = [0];
    for (let at = 0; at < queue.length; at++) {
      const state = queue[at] ?? 0;
      const row = state * ASCII;
      const suffixRow = (suffix[state] ?? 0) * ASCII;
      if (state !== 0) next.copyWithin(row, suffixRow, suffixRow + ASCII);
      for (const [code, child] of trie[state] ?? []) {
        const fallback = (next[row + code] ?? 0) >> STATE_SHIFT;
        suffix[child] = fallback;
        this.#ends[child]?.push(...(this.#ends[fallback] ?? []));
        next[row + code] = this.#entryOf(child);
        if (code >= FIRST_SMALL && code <= LAST_SMALL) next[row + code - CASE_STEP] = this.#entryOf(child);
        queue.push(child);
      }
    }
    return next;
  }

  #entryOf(state: number): number {
    return state * ASCII + (this.#ends[state]?.length ? ENDS : 0);
  }
}

/** Finds the places of a few keywords in a text, as an index with them would: a table is faster only for many. */
export class FewKeywords {
  readonly #text: string;
  /** Null: the places in it are not those in the text. */
  #lower: string | null | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** False if a table is needed. Keywords must be lower case. */
  canFind(keywords: readonly string[]): boolean {
    return keywords.length <= MOST_FEW && keywords.every((keyword) => PLAIN.test(keyword)) && this.#lowered() !== null;
  }

  /** See `KeywordIndex.findPlaces`. */
  placesOf(keyword: string): readonly KeywordPlaces[] {
    const text = this.#lowered() ?? '';
    const most = mostPlaces(text);
    const places: number[] = [];
    for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
      places.push(at + keyword.length);
      if (places.length > most) return [null];
    }
    return places.length === 0 ? [] : [places];
  }

  #lowered(): string | null {
    if (this.#lower === undefined) {
      const lower = this.#text.includes(LONG_S) ? null : lowerCase(this.#text);
      this.#lower = lower?.length === this.#text.length ? lower : null;
    }
    return this.#lower;
  }
}

/** Each is a search of its own. */
const MOST_FEW = 8;
const PLAIN = /^[ -~\t\n\r]+$/;

function wholeOf(text: string): Span[] {
  return [{ start: 0, end: text.length }];
}

function mostPlaces(text: string): number {
  return Math.max(MIN_PLACES, text.length / CHARS_PER_PLACE);
}

/** In lower case, whatever is around it. */
function withOneSigma(text: string): string {
  return lowerCase(text).replaceAll(FINAL_SIGMA, SMALL_SIGMA);
}

/** What a character beyond ASCII counts as: no keyword of the table holds NUL. */
function plainOf(code: number): number {
  if (code === KELVIN) return 0x6b;
  return code === DOTTED_I ? 0x69 : 0;
}
