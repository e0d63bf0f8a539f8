import { lowerCase } from './keyword-index.ts';
import { Pattern } from './pattern.ts';
import type { AllowlistConfig } from './rule-config.ts';

/** What an allowlist looks at. `line` is asked for only where an allowlist targets it. */
export interface Candidate {
  secret: string;
  match: string;
  line(): string;
}

/** Compiled. The regexes are joined as gitleaks joins them: flags of the first hold for the rest. */
export class Allowlist {
  readonly #config: AllowlistConfig;
  readonly #pattern: Pattern | undefined;

  constructor(config: AllowlistConfig) {
    this.#config = config;
    if (config.regexes.length > 0) this.#pattern = new Pattern(`(?:${config.regexes.join('|')})`, config.where);
  }

  excuses(candidate: Candidate): boolean {
    const { condition, stopwords } = this.#config;
    if (condition === 'or') return this.#regexHolds(candidate) || this.#stopwordHolds(candidate);
    return (
      (this.#pattern === undefined || this.#regexHolds(candidate)) &&
      (stopwords.length === 0 || this.#stopwordHolds(candidate))
    );
  }

  #regexHolds(candidate: Candidate): boolean {
    if (this.#pattern === undefined) return false;
    const { target } = this.#config;
    const text = target === 'line' ? candidate.line() : candidate[target];
    return text !== '' && this.#pattern.test(text);
  }

  #stopwordHolds(candidate: Candidate): boolean {
    if (this.#config.stopwords.length === 0) return false;
    const secret = lowerCase(candidate.secret);
    return this.#config.stopwords.some((word) => secret.includes(word));
  }
}
