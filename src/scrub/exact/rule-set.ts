import type { Finding } from '../finding.ts';
import type { GitleaksConfig } from './config.ts';
import { decodeOnce, firstPass } from './decode-pass.ts';
import { GivenText } from './given-text.ts';
import { MaskingPass } from './masking-pass.ts';
import { Places } from './places.ts';
import { RuleIndex, type RuleIndexOptions } from './rule-index.ts';

export interface FindOptions {
  /** Layers of encoding that are looked into. Default 5, as gitleaks' command has it; 0: none. */
  maxDecodeDepth?: number;
}

const MAX_DECODE_DEPTH = 5;

/**
 * The rules of several configurations over a text, for masking: all that gitleaks finds, and also what it excuses by
 * `gitleaks:allow` or by path, since no path is known here. Rules for a path hold, rules for paths only never do.
 */
export class RuleSet {
  readonly #index: RuleIndex;

  /** SCHEMA_INVALID for a pattern that Go would refuse. */
  constructor(configs: readonly GitleaksConfig[], options: RuleIndexOptions = {}) {
    this.#index = new RuleIndex(configs, options);
  }

  get ruleCount(): number {
    return this.#index.ruleCount;
  }

  /** Where secrets are, in no order, with overlaps; of a secret in encoded text, all that was encoded. */
  find(text: string, options: FindOptions = {}): Finding[] {
    const found: Finding[] = [];
    if (text === '') return found;
    const maxDepth = options.maxDecodeDepth ?? MAX_DECODE_DEPTH;
    let run = new MaskingPass(this.#index, new Places(firstPass(text), undefined), new GivenText(text));
    for (;;) {
      for (const slot of this.#index.dueFor(run.pass.text)) found.push(...run.find(slot));
      const pass = run.pass.depth < maxDepth ? decodeOnce(run.pass) : undefined;
      if (pass === undefined) return found;
      run = run.next(pass);
    }
  }
}
