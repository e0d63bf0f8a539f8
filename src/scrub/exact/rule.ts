import type { Finding } from '../finding.ts';
import { Allowlist } from './allowlist.ts';
import { entropyOf } from './entropy.ts';
import { Pattern, type Range } from './pattern.ts';
import type { RuleConfig } from './rule-config.ts';
import { ruleFault } from './toml-table.ts';

/** One rule, compiled. Says what gitleaks says of a text, with `gitleaks:allow` comments ignored. */
export class Rule {
  readonly #config: RuleConfig;
  readonly #pattern: Pattern;
  readonly #allowlists: readonly Allowlist[];

  constructor(config: RuleConfig) {
    this.#config = config;
    this.#pattern = new Pattern(config.regex, config.where);
    this.#allowlists = config.allowlists.map((list) => new Allowlist(list));
    if (config.secretGroup > this.#pattern.groupCount)
      throw ruleFault(
        config.where,
        `"secretGroup" is ${config.secretGroup}, the regex has ${this.#pattern.groupCount} groups`,
      );
  }

  find(text: string): Finding[] {
    const found: Finding[] = [];
    for (const range of this.#pattern.findAll(text)) {
      const match = trimLineEnds(text, range);
      const secret = this.#secretIn(text.slice(match.start, match.end));
      const start = match.start + secret.start;
      const end = match.start + secret.end;
      if (this.#isSecret(text, range, match, text.slice(start, end)))
        found.push({ rule: this.#config.id, ...(start < end ? { start, end } : match) });
    }
    return found;
  }

  /** The pattern is run again on the match alone, so anchors see its ends; where that fails, all of it is secret. */
  #secretIn(match: string): Range {
    const whole = { start: 0, end: match.length };
    const groups = this.#pattern.groups(match);
    const { secretGroup } = this.#config;
    if (secretGroup > 0 && groups.length > 0) return groups[secretGroup - 1] ?? { start: 0, end: 0 };
    return groups.find((group) => group !== undefined && group.start < group.end) ?? whole;
  }

  #isSecret(text: string, range: Range, match: Range, secret: string): boolean {
    const { entropy } = this.#config;
    if (entropy !== 0 && entropyOf(secret) <= entropy) return false;
    const candidate = {
      secret,
      match: text.slice(match.start, match.end),
      line: () => lineOf(text, range.start, range.start + match.end - match.start),
    };
    return !this.#allowlists.some((list) => list.excuses(candidate));
  }
}

function trimLineEnds(text: string, { start, end }: Range): Range {
  let from = start;
  let to = end;
  while (from < to && text[from] === '\n') from++;
  while (to > from && text[to - 1] === '\n') to--;
  return { start: from, end: to };
}

/** gitleaks' idea of a line: from the second one on it begins with the line end before it. */
function lineOf(text: string, start: number, end: number): string {
  const from = Math.max(0, text.lastIndexOf('\n', start));
  const to = text.indexOf('\n', end);
  return text.slice(from, to === -1 ? text.length : to);
}
