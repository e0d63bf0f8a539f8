import type { Term } from './query.ts';
import { relatedTo, type Variant } from './related-words.ts';
import { Spellings } from './spelling.ts';
import type { WordIndex } from './word-index.ts';
import { isStopWord, stemOf } from './words.ts';

/** How much a word counts that is near a misspelt one. */
const SPELLING_CERTAINTY = 0.5;

/** How much each part of a joined word counts. */
const PART_CERTAINTY = 0.7;
const PART_MIN_CHARS = 3;

/** Words whose variants are kept. */
const KNOWN_MAX = 10_000;

/** Finds the words of a catalogue that terms may mean. */
export class Variants {
  readonly #index: WordIndex;
  readonly #known = new Map<string, readonly Variant[]>();
  #spellings: Spellings | null = null;

  constructor(index: WordIndex) {
    this.#index = index;
  }

  /** The term itself, words that mean nearly the same, and if no item has the term, its parts and similar words. */
  of({ word, stem }: Term): readonly Variant[] {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const found = this.#find(word, stem);
    this.#known.set(word, found);
    return found;
  }

  #find(word: string, stem: string): Variant[] {
    const isKnown = this.#index.has(stem);
    const related = relatedTo(stem).filter((variant) => this.#index.has(variant.stem));
    const own = isKnown ? [{ stem, certainty: 1 }] : [...this.#parts(word), ...this.#similar(stem)];
    return [...own, ...related.filter((variant) => own.every((one) => one.stem !== variant.stem))];
  }

  /** The two words that a word is joined of: `sendmail`. */
  #parts(word: string): Variant[] {
    for (let cut = PART_MIN_CHARS; cut <= word.length - PART_MIN_CHARS; cut++) {
      const parts = [word.slice(0, cut), word.slice(cut)];
      const stems = parts.map(stemOf);
      // Not `forcast`, which is no cast.
      if (parts.some(isStopWord)) continue;
      if (stems.every((stem) => this.#index.has(stem)))
        return stems.map((stem) => ({ stem, certainty: PART_CERTAINTY }));
    }
    return [];
  }

  #similar(stem: string): Variant[] {
    // Made with the first word that no item has.
    this.#spellings ??= new Spellings(this.#index.stems());
    return this.#spellings
      .similar(stem)
      .map(([word, likeness]) => ({ stem: word, certainty: likeness * SPELLING_CERTAINTY }));
  }
}
