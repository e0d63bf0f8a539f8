/** Lower case as Go has it where it matters for ASCII keywords: U+0130 becomes a plain i (U+212A becomes k anyway). */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

const ASCII = 128;

/**
 * Which of many keywords a text holds, in one pass (Aho-Corasick over ASCII; other keywords one by one). A keyword
 * counts wherever it stands: there are no word boundaries.
 */
export class KeywordIndex {
  /** `state * ASCII + code` to the next state. */
  #next: Int32Array;
  /** The keyword ids that end in a state, those of its suffixes included. */
  readonly #ends: number[][] = [[]];
  readonly #others: { keyword: string; id: number }[] = [];

  /** The position of a keyword in `keywords` is its id. They must be lower case. */
  constructor(keywords: readonly string[]) {
    const states = 1 + keywords.reduce((sum, keyword) => sum + keyword.length, 0);
    this.#next = new Int32Array(states * ASCII).fill(-1);
    for (const [id, keyword] of keywords.entries()) this.#add(keyword, id);
    this.#next = this.#next.slice(0, this.#ends.length * ASCII);
    this.#link();
  }

  /** The ids of all keywords in a text. */
  find(text: string): Set<number> {
    const lower = lowerCase(text);
    const found = new Set<number>();
    let state = 0;
    for (let i = 0; i < lower.length; i++) {
      const code = lower.charCodeAt(i);
      state = code < ASCII ? (this.#next[state * ASCII + code] ?? 0) : 0;
      const ends = this.#ends[state];
      if (ends !== undefined && ends.length > 0) for (const id of ends) found.add(id);
    }
    for (const { keyword, id } of this.#others) if (lower.includes(keyword)) found.add(id);
    return found;
  }

  #add(keyword: string, id: number): void {
    let state = 0;
    for (let i = 0; i < keyword.length; i++) {
      const code = keyword.charCodeAt(i);
      if (code >= ASCII) {
        this.#others.push({ keyword, id });
        return;
      }
      const slot = state * ASCII + code;
      if (this.#next[slot] === -1) this.#next[slot] = this.#ends.push([]) - 1;
      state = this.#next[slot] ?? 0;
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
}
