import type { GitleaksConfig } from '../exact/config.ts';
import { lowerCase } from '../exact/keyword-index.ts';

/** A shorter keyword is in ordinary text too. */
const MIN_KEYWORD_CHARS = 3;
const MIN_SECRET_CHARS = 16;

/**
 * Tells secrets that carry the mark of their kind (they begin with a keyword of their rule, as ghp_ and AKIA) from
 * those that only their surroundings make one. Text that was joined from pieces is believed to hold the former.
 */
export class Marks {
  readonly #keywords = new Map<string, string[]>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules } of configs)
      for (const { id, keywords } of rules) {
        const long = keywords.filter((keyword) => keyword.length >= MIN_KEYWORD_CHARS);
        this.#keywords.set(id, [...(this.#keywords.get(id) ?? []), ...long]);
      }
  }

  isMarked(rule: string, secret: string): boolean {
    if (secret.length < MIN_SECRET_CHARS) return false;
    if (secret.startsWith('-----BEGIN')) return true;
    const beginning = lowerCase(secret.slice(0, 32));
    return (this.#keywords.get(rule) ?? []).some((keyword) => beginning.startsWith(keyword));
  }
}
