import type { Span } from '../../text/view.ts';
import { KeywordIndex } from './keyword-index.ts';
import { partsNear } from './landmarks.ts';
import type { Rule } from './rule.ts';
import type { Slot } from './rule-index.ts';

/**
 * The parts of a text that can hold a match of a rule; undefined: all of it. `searched`: the text, or the text and a line
 * end.
 */
export type PartsOf = (rule: Rule, searched: string) => Span[] | undefined;

/** Shorter texts are searched as a whole: it takes less time than to look for their parts. */
const MIN_CHARS = 4096;

/**
 * Finds the parts of long texts that the rules must search. Nearly all patterns require a word, so that one pass over the
 * text for the words of all rules replaces most of the passes for each. What is found is the same.
 */
export class PartFinder {
  /** By rule, the ids of its words. */
  readonly #rules = new Map<Rule, readonly number[]>();
  readonly #ids = new Map<string, number>();
  #index = new KeywordIndex([]);

  in(text: string, due: readonly Slot[]): PartsOf {
    if (text.length < MIN_CHARS) return () => undefined;
    this.#addAll(due);
    const placesOf = this.#index.findPlaces(text);
    return (rule, searched) => {
      const ids = this.#rules.get(rule);
      const { landmarks } = rule;
      return ids === undefined || landmarks === null
        ? undefined
        : partsNear(searched, ids.flatMap(placesOf), landmarks.reach);
    };
  }

  /** Rules are added when a text first needs them, because it takes time to read their patterns. */
  #addAll(due: readonly Slot[]): void {
    const known = this.#ids.size;
    for (const { rule } of due) {
      if (this.#rules.has(rule)) continue;
      const { words = [] } = rule.landmarks ?? {};
      this.#rules.set(
        rule,
        words.map((word) => this.#idOf(word)),
      );
    }
    if (this.#ids.size > known) this.#index = new KeywordIndex([...this.#ids.keys()]);
  }

  #idOf(word: string): number {
    const id = this.#ids.get(word) ?? this.#ids.size;
    this.#ids.set(word, id);
    return id;
  }
}
