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

/** Offsets at which a keyword ends, in order. Null: it may be anywhere, because it is too frequent or not ASCII. */
export type KeywordPlaces = readonly number[] | null;

/** By state: the next state for each code that continues a keyword. */
type Trie = Map<number, number>[];

/**
 * Finds which of many keywords a text contains, in one pass (Aho-Corasick over ASCII without NUL; other keywords one by
 * one). A keyword counts anywhere and in any case. No lower-case copy of the text is made.
 */
export class KeywordIndex {
  /** At `state * ASCII + code`: the next state times ASCII, with ENDS. */
  readonly #next: Int32Array;
  /** The keyword ids that end in a state, those of its suffixes included. */
  readonly #ends: number[][] = [[]];
  readonly #others: { keyword: string; id: number }[] = [];

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
    const lower = lowerCase(text);
    for (const { keyword, id } of this.#others) if (lower.includes(keyword)) found.add(id);
    return found;
  }

  /**
   * Where the keywords of a text are, by id, in any order. Unlike in `find`, an ſ is an s, as patterns have it: a text with an
   * ſ may hold any keyword anywhere. `windows`: where to look, in order of place; default: everywhere.
   */
  findPlaces(
    text: string,
    windows: readonly Span[] = [{ start: 0, end: text.length }],
  ): (id: number) => readonly KeywordPlaces[] {
    if (text.includes(LONG_S)) return () => [null];
    const found = new Map<number, KeywordPlaces[]>(this.#others.map(({ id }) => [id, [null]]));
    for (const [state, places] of this.#placesByState(text, windows))
      for (const id of this.#ends[state] ?? []) {
        const known = found.get(id);
        if (known === undefined) found.set(id, [places]);
        else known.push(places);
      }
    return (id) => found.get(id) ?? [];
  }

  /** By each state that keywords end in: the offsets at which the text led to it. */
  #placesByState(text: string, windows: readonly Span[]): Map<number, number[] | null> {
    const most = Math.max(MIN_PLACES, text.length / CHARS_PER_PLACE);
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
        this.#others.push({ keyword, id });
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

/** What a character beyond ASCII counts as: no keyword of the table holds NUL. */
function plainOf(code: number): number {
  if (code === KELVIN) return 0x6b;
  return code === DOTTED_I ? 0x69 : 0;
}
