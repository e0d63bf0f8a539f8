import { lowerCase } from './keyword-index.ts';

const PREFIX_CHARS = 3;

/** Whether a text holds one of many words, in any case. Words are found by how they begin: a list may have thousands. */
export class Stopwords {
  readonly #byPrefix = new Map<string, string[]>();
  readonly #short: string[] = [];

  /** Lower case. */
  constructor(words: readonly string[]) {
    for (const word of words) {
      const prefix = word.slice(0, PREFIX_CHARS);
      const bucket = prefix.length < PREFIX_CHARS ? this.#short : this.#byPrefix.get(prefix);
      if (bucket === undefined) this.#byPrefix.set(prefix, [word]);
      else bucket.push(word);
    }
  }

  isIn(text: string): boolean {
    // Like gitleaks' own search, which takes nothing from an empty word.
    if (text === '') return false;
    const lower = lowerCase(text);
    if (this.#short.some((word) => word !== '' && lower.includes(word))) return true;
    for (let at = 0; at + PREFIX_CHARS <= lower.length; at++) {
      const bucket = this.#byPrefix.get(lower.slice(at, at + PREFIX_CHARS));
      if (bucket?.some((word) => lower.startsWith(word, at))) return true;
    }
    return false;
  }
}
