/** Lower case as Go has it where it matters for ASCII keywords: U+0130 becomes a plain i (U+212A becomes k anyway). */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

const ASCII = 128;
const FIRST_CAPITAL = 0x41;
const LAST_CAPITAL = 0x5a;
/** Between a capital and its small letter. */
const CASE_STEP = 0x20;
const KELVIN = 0x212a;
const DOTTED_I = 0x130;
/** Set in an entry of the table when keywords end in its state. */
const ENDS = 1;

/**
 * Which of many keywords a text holds, in one pass (Aho-Corasick over ASCII without NUL; other keywords one by one). A keyword
 * counts wherever it stands, in any case: there are no word boundaries. No lower-case copy of the text is made.
 */
export class KeywordIndex {
  /** At `state * ASCII + code`: the next state times ASCII, with ENDS. Before `#link`, -1 where nothing follows. */
  readonly #next: Int32Array;
  /** The keyword ids that end in a state, those of its suffixes included. */
  readonly #ends: number[][] = [[]];
  readonly #others: { keyword: string; id: number }[] = [];

  /** The position of a keyword in `keywords` is its id. They must be lower case. */
  constructor(keywords: readonly string[]) {
    const states = 1 + keywords.reduce((sum, keyword) => sum + keyword.length, 0);
    const next = new Int32Array(states * ASCII).fill(-1);
    for (const [id, keyword] of keywords.entries()) this.#add(next, keyword, id);
    this.#next = next.slice(0, this.#ends.length * ASCII);
    this.#link();
    this.#foldCase();
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
      const state = entry >> 7;
      seen ??= new Uint8Array(this.#ends.length);
      if (seen[state] === 1) continue;
      seen[state] = 1;
      for (const id of this.#ends[state] ?? []) found.add(id);
    }
  }

  #add(next: Int32Array, keyword: string, id: number): void {
    let state = 0;
    for (let i = 0; i < keyword.length; i++) {
      const code = keyword.charCodeAt(i);
      if (code >= ASCII || code === 0) {
        this.#others.push({ keyword, id });
        return;
      }
      const slot = state * ASCII + code;
      if (next[slot] === -1) next[slot] = this.#ends.push([]) - 1;
      state = next[slot] ?? 0;
    }
    this.#ends[state]?.push(id);
  }

  /** Fills every gap with the state of the longest suffix, breadth first, so that `find` never looks back. */
  #link(): void {
    const next = this.#next;
    const suffix = new Int32Array(this.#ends.length);
    const queue: number[] = [0];
    for (let at = 0; at < queue.length; at++) {
      const state = queue[at] ?? 0;
      for (let code = 0; code < ASCII; code++) {
        const slot = state * ASCII + code;
        const fallback = state === 0 ? 0 : (next[(suffix[state] ?? 0) * ASCII + code] ?? 0);
        const child = next[slot] ?? -1;
        if (child === -1) {
          next[slot] = fallback;
          continue;
        }
        suffix[child] = fallback;
        this.#ends[child]?.push(...(this.#ends[fallback] ?? []));
        queue.push(child);
      }
    }
  }

  /** Capitals lead where their small letters lead, and states become the entries that `find` reads. */
  #foldCase(): void {
    const next = this.#next;
    for (let slot = 0; slot < next.length; slot++) {
      const state = next[slot] ?? 0;
      next[slot] = state * ASCII + (this.#ends[state]?.length ? ENDS : 0);
    }
    for (let state = 0; state < next.length; state += ASCII)
      for (let code = FIRST_CAPITAL; code <= LAST_CAPITAL; code++)
        next[state + code] = next[state + code + CASE_STEP] ?? 0;
  }
}

/** What a character beyond ASCII counts as: no keyword of the table holds NUL. */
function plainOf(code: number): number {
  if (code === KELVIN) return 0x6b;
  return code === DOTTED_I ? 0x69 : 0;
}
