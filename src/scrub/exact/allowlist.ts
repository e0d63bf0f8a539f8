import { certificateOf } from './certified-patterns.ts';
import type { AllowlistConfig } from './config.ts';
import { parseGo } from './go-syntax.ts';
import { lowerCase } from './keyword-index.ts';
import { Pattern } from './pattern.ts';
import { ruleFault } from './toml-table.ts';

/** What an allowlist looks at. `line` is only called if an allowlist targets it. */
export interface Candidate {
  secret: string;
  match: string;
  line(): string;
}

/** A compiled allowlist. Regexes and paths are joined as gitleaks joins them: flags of the first apply to the rest. */
export class Allowlist {
  readonly #config: AllowlistConfig;
  readonly #regex: Pattern | undefined;
  readonly #paths: Pattern | undefined;
  readonly #stopwords: Stopwords | undefined;
  /** The last line and its result: the matches of one long line ask for it repeatedly. */
  #line = { text: '', holds: false };

  constructor(config: AllowlistConfig) {
    this.#config = config;
    this.#regex = joined(config.regexes, config.where);
    this.#paths = joined(config.paths, config.where);
    if (config.stopwords.length > 0) this.#stopwords = new Stopwords(config.stopwords);
  }

  /** Whether texts of this path are not searched. Called before a rule runs; an empty path is unknown. */
  excusesPath(path: string): boolean {
    const { condition, commits, regexes, stopwords } = this.#config;
    if (condition === 'and' && commits.length + regexes.length + stopwords.length > 0) return false;
    return this.#pathHolds(path);
  }

  /** Whether a finding does not count. Paths matter here only if all kinds must hold. */
  excuses(candidate: Candidate, path: string): boolean {
    const { condition, commits } = this.#config;
    if (condition === 'or') return this.#regexHolds(candidate) || this.#stopwordHolds(candidate);
    return (
      commits.length === 0 &&
      (this.#paths === undefined || this.#pathHolds(path)) &&
      (this.#regex === undefined || this.#regexHolds(candidate)) &&
      (this.#stopwords === undefined || this.#stopwordHolds(candidate))
    );
  }

  #pathHolds(path: string): boolean {
    return path !== '' && this.#paths?.test(path) === true;
  }

  #regexHolds(candidate: Candidate): boolean {
    if (this.#regex === undefined) return false;
    const { target } = this.#config;
    return target === 'line'
      ? this.#lineHolds(candidate.line(), this.#regex)
      : this.#holdsFor(candidate[target], this.#regex);
  }

  #lineHolds(text: string, regex: Pattern): boolean {
    if (text !== this.#line.text) this.#line = { text, holds: this.#holdsFor(text, regex) };
    // Another copy of the same line: comparing the next one with this copy takes no time.
    else this.#line.text = text;
    return this.#line.holds;
  }

  #holdsFor(text: string, regex: Pattern): boolean {
    return text !== '' && regex.test(text);
  }

  #stopwordHolds(candidate: Candidate): boolean {
    return this.#stopwords?.isIn(candidate.secret) === true;
  }
}

/** Each source must also be a valid pattern by itself. */
function joined(sources: readonly string[], where: string): Pattern | undefined {
  if (sources.length === 0) return undefined;
  const whole = `(?:${sources.join('|')})`;
  // The parts of a listed pattern were checked when it was listed; a test checks them again.
  if (certificateOf(whole) === undefined) for (const source of sources) checkSyntax(source, where);
  return new Pattern(whole, where);
}

/** Names of Unicode classes are checked when the joined pattern is compiled. */
function checkSyntax(source: string, where: string): void {
  try {
    parseGo(source);
  } catch (cause) {
    throw ruleFault(where, `the pattern is refused: ${cause instanceof Error ? cause.message : source}`, cause);
  }
}

const PREFIX_CHARS = 3;
const ASCII = 0x80;

/**
 * Whether a text contains one of many words, in any case. Words are looked up by their first characters, because a list
 * may have thousands.
 */
class Stopwords {
  readonly #byPrefix = new Map<number, string[]>();
  /** Words that are shorter than a prefix or do not begin with ASCII. */
  readonly #others: string[] = [];

  /** The words must be lower case. */
  constructor(words: readonly string[]) {
    for (const word of words) {
      const prefix = prefixAt(word, 0);
      const bucket = prefix === null ? this.#others : this.#byPrefix.get(prefix);
      if (bucket !== undefined) bucket.push(word);
      else if (prefix !== null) this.#byPrefix.set(prefix, [word]);
    }
  }

  isIn(text: string): boolean {
    // gitleaks' own search finds nothing in an empty text either.
    if (text === '') return false;
    const lower = lowerCase(text);
    if (this.#others.some((word) => word !== '' && lower.includes(word))) return true;
    for (let at = 0; at + PREFIX_CHARS <= lower.length; at++) {
      const prefix = prefixAt(lower, at);
      if (prefix !== null && this.#byPrefix.get(prefix)?.some((word) => lower.startsWith(word, at))) return true;
    }
    return false;
  }
}

/** Three ASCII characters as one number. */
function prefixAt(text: string, at: number): number | null {
  if (at + PREFIX_CHARS > text.length) return null;
  const [one, two, three] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
  return (one | two | three) < ASCII ? (one * ASCII + two) * ASCII + three : null;
}
