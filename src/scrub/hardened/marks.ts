import type { Span } from '../../text/view.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { lowerCase } from '../exact/keyword-index.ts';

/** Shorter keywords occur in ordinary text. */
const MIN_KEYWORD_CHARS = 3;
const MIN_SECRET_CHARS = 16;

/**
 * Distinguishes secrets that begin with a keyword of their rule (ghp_, AKIA) from secrets that only their surroundings
 * identify. In text that was joined from pieces, only the former are believed.
 */
export class Marks {
  readonly #keywords = new Map<string, string[]>();
  readonly #contextual = new Set<string>();
  readonly #words = new Map<string, readonly string[]>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules } of configs)
      for (const { id, keywords, regex } of rules) {
        if (isContextual(regex, keywords)) this.#contextual.add(id);
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

  /**
   * Whether a provider's word that a rule needs stands before a finding as a whole word: `okta_token`, `oktaToken`, not
   * `rookTable`. True if the rule has no such word.
   */
  namesRule(rule: string, text: string, { start, end }: Span): boolean {
    const words = this.#providerWords(rule);
    if (words.length === 0) return true;
    const first = Math.max(0, start - WORD_REACH_CHARS);
    const from = first + text.slice(first, start).lastIndexOf('\n') + 1;
    const context = text.slice(from, Math.min(end, start + WORD_REACH_CHARS));
    const lower = lowerCase(context);
    let isSeen = false;
    for (const word of words)
      for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) {
        if (isWholeWord(context, at, at + word.length)) return true;
        isSeen = true;
      }
    return !isSeen;
  }

  #providerWords(rule: string): readonly string[] {
    const known = this.#words.get(rule);
    if (known !== undefined) return known;
    const keywords = this.#keywords.get(rule) ?? [];
    const words = this.#contextual.has(rule) ? keywords.filter((keyword) => /^[a-z][a-z0-9]+$/.test(keyword)) : [];
    this.#words.set(rule, words);
    return words;
  }
}

/** Characters before a value among which the word of its rule is looked for. */
const WORD_REACH_CHARS = 120;
/** A rule with such a keyword is for the values of any provider. */
const GENERIC = /^(?:pass(?:word|wd)?|pwd|secret|token|key|api|access|creds?|credential|auth|password)$/;
/** How gitleaks writes a name, a sign that assigns and a value; only rules that know the name have it. */
const ASSIGNMENT = '(?:=|>|:{1,3}=';
/** A rule with more keywords is for the names of many providers. */
const MANY_KEYWORDS = 20;

/** A pattern that names programs itself as whole words. */
const WHOLE_WORDS = '\\b(?:';

/** Whether a rule knows a value by the name of a provider before it. */
function isContextual(regex: string, keywords: readonly string[]): boolean {
  if (keywords.some((keyword) => GENERIC.test(keyword))) return false;
  return regex.includes(ASSIGNMENT) || (keywords.length > MANY_KEYWORDS && !regex.includes(WHOLE_WORDS));
}

/** What may follow a provider's word without a sign between. */
const FOLLOWER = /^(?:api|app|access|auth|key|token|secret|pass|pwd|client|id|url|webhook|bot|org|v?[0-9])/;

function isWholeWord(text: string, start: number, end: number): boolean {
  const [before = '', first = '', after = ''] = [text[start - 1], text[start], text[end]];
  const isStart = !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(first));
  const isEnd = !/[A-Za-z]/.test(after) || (/[A-Z]/.test(after) && /[a-z]/.test(text[end - 1] ?? ''));
  return isStart && (isEnd || FOLLOWER.test(lowerCase(text.slice(end, end + 8))));
}
