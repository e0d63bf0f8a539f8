import type { Span } from '../../text/offset-map.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { lowerCase } from '../exact/keyword-index.ts';
import type { Finding } from '../finding.ts';
import { isMadeOfWords } from '../words.ts';
import { markWords } from './mark-words.ts';

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
  readonly #own = new Set<string>();
  readonly #patterns = new Map<string, { regex: string; keywords: readonly string[] }[]>();
  /** Found when a rule is asked for first: most find nothing. */
  readonly #marks = new Map<string, readonly string[]>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules, exactGroups } of configs)
      for (const { id, keywords, regex } of rules) {
        if (exactGroups) this.#own.add(id);
        if (isContextual(regex, keywords)) this.#contextual.add(id);
        const long = keywords.filter((keyword) => keyword.length >= MIN_KEYWORD_CHARS);
        this.#keywords.set(id, [...(this.#keywords.get(id) ?? []), ...long]);
        this.#patterns.set(id, [...(this.#patterns.get(id) ?? []), { regex, keywords: long }]);
      }
  }

  isMarked(rule: string, secret: string): boolean {
    if (secret.length < MIN_SECRET_CHARS) return false;
    if (secret.startsWith('-----BEGIN')) return true;
    return this.#prefixOf(rule, secret) !== undefined;
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

  /**
   * Whether a rule of ours found a provider's prefix in the middle of a word that goes on behind it: `rhf_Products…` is no
   * `hf_…`. A token that was written right after a letter has digits, or letters that make no words. A letter that ends an
   * escape, as in `\\nghp_…`, belongs to no word. The rules of others apply as they are written.
   */
  isGlued(text: string, { rule, start, end }: Finding): boolean {
    if (!this.#own.has(rule) || !isInWord(text, start)) return false;
    const value = text.slice(start, end);
    const prefix = this.#prefixOf(rule, value);
    return prefix !== undefined && isWordLike(value.slice(prefix.length));
  }

  /**
   * Whether a mark stands inside a longer run of base64, such as a checksum or an image, which holds every mark somewhere. A
   * token is at the edge of a run, or right after a few characters.
   */
  isInBase64(text: string, { rule, start, end }: Finding): boolean {
    if (this.isInWrapped(text, { rule, start, end })) return true;
    if (!isBase64At(text, start - 1)) return false;
    const from = runStart(text, start);
    const before = text.slice(from, start);
    // No name stands before a value in the middle of base64.
    if (before.length >= MIN_RUN_CHARS && !/[\\/]{2}/.test(before) && !hasWords(before)) return true;
    if (!isInWord(text, start) || before.length < MIN_BEFORE_CHARS || isMadeOfWords(before)) return false;
    const value = text.slice(start, end);
    if (MARK_END.test(this.#prefixOf(rule, value) ?? '_')) return false;
    return runEnd(text, end) - from >= MIN_RUN_CHARS;
  }

  /**
   * Whether a value is the beginning of a line of wrapped base64: the line goes on after the value, and two lines beside it are
   * base64 of the same length. A single one may be a hash; hashes in a column are hex.
   */
  isInWrapped(text: string, { rule, start, end }: Finding): boolean {
    const above = lineAbove(text, start);
    if (above === null || MARK_END.test(this.#prefixOf(rule, text.slice(start, end)) ?? '')) return false;
    const lineTo = runEnd(text, start, MAX_RUN_CHARS);
    const width = lineTo - start;
    const isWrapped = (line: Span | null): boolean =>
      line !== null && line.end - line.start === width && isBase64(text.slice(line.start, line.end));
    if (lineTo <= end || width < MIN_RUN_CHARS || !isWrapped(above)) return false;
    return isWrapped(lineAbove(text, above.start)) || isWrapped(lineBelow(text, lineTo));
  }

  /** The keyword of its rule that a value begins with. */
  #prefixOf(rule: string, value: string): string | undefined {
    const beginning = lowerCase(value.slice(0, 32));
    const keyword = (this.#keywords.get(rule) ?? []).find((keyword) => beginning.startsWith(keyword));
    return keyword === undefined ? undefined : this.#marksOf(rule).find((mark) => beginning.startsWith(mark));
  }

  #marksOf(rule: string): readonly string[] {
    const known = this.#marks.get(rule);
    if (known !== undefined) return known;
    const marks = (this.#patterns.get(rule) ?? []).flatMap(({ regex, keywords }) => markWords(regex, keywords));
    this.#marks.set(rule, marks);
    return marks;
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

/** A run of base64 that is as long as the shortest checksum; fewer characters before a mark are no part of one. */
const MIN_RUN_CHARS = 40;
const MIN_BEFORE_CHARS = 3;
const MAX_RUN_CHARS = 4096;
/** The end of a line, in a string too, and the margin of the next one. */
const LINE_END = /(?:\r?\n|\\+[rn])(?:[\s"'`,+;>]|\\+[rn])*$/;
const LINE_BEGIN = /^(?:\r?\n|\\+[rn])(?:[\s"'`,+;>]|\\+[rn])*/;
const MAX_LINE_END_CHARS = 24;
/** Base64 has no such sign, so a mark with one is known in the middle of it. */
const MARK_END = /[^a-z0-9+/]/;
/** By code: whether a character is of base64. */
const BASE64 = Uint8Array.from({ length: 0x80 }, (_, code) => Number(/[A-Za-z0-9+/]/.test(String.fromCharCode(code))));

/** A hash is of the same characters as base64. */
const ALL_HEX = /^[0-9a-fA-F]*$/;

function isBase64(line: string): boolean {
  return !ALL_HEX.test(line) && !hasWords(line);
}

/** The base64 at the end of the line before a line, null if there is no line or nothing on it. */
function lineAbove(text: string, start: number): Span | null {
  const lineEnd = LINE_END.exec(text.slice(Math.max(0, start - MAX_LINE_END_CHARS), start));
  if (lineEnd === null) return null;
  const end = start - lineEnd[0].length;
  const from = runStart(text, end);
  // The letter of an escape is of the same characters.
  return { start: /\\[rn]$/.test(text.slice(Math.max(0, from - 1), from + 1)) ? from + 1 : from, end };
}

function lineBelow(text: string, end: number): Span | null {
  const lineEnd = LINE_BEGIN.exec(text.slice(end, end + MAX_LINE_END_CHARS));
  if (lineEnd === null) return null;
  const start = end + lineEnd[0].length;
  return { start, end: runEnd(text, start, MAX_RUN_CHARS) };
}

/** Paths and words are of the same characters as base64. */
function hasWords(run: string): boolean {
  const parts = run.split(/[/+]/).filter((part) => part.length > 3);
  return parts.filter(isMadeOfWords).length * 2 >= parts.length;
}

function isBase64At(text: string, at: number): boolean {
  return BASE64[text.charCodeAt(at)] === 1;
}

function runStart(text: string, at: number): number {
  let from = at;
  while (from > 0 && at - from < MAX_RUN_CHARS && isBase64At(text, from - 1)) from--;
  return from;
}

function runEnd(text: string, at: number, most = MIN_RUN_CHARS): number {
  let to = at;
  while (to < text.length && to - at < most && isBase64At(text, to)) to++;
  return to;
}

/** The end of an escape: of JSON, C, a shell, percent encoding, quoted-printable, or a terminal's colour. */
const ESCAPE_END =
  /(?:\\(?:[abefnrtv]|[0-7]{1,3}|x[0-9a-f]{2}|u[0-9a-f]{4})|%(?:25)*[0-9a-f]{2}|=3d|\[[0-9;]{0,12}m)$/i;
const MAX_ESCAPE_CHARS = 16;

/** Letters of one case only, more than a random token has in a row. */
const ONE_CASE = /^(?:[a-z_-]{24,}|[A-Z_-]{24,})$/;

/** Words of any case, and nothing else. */
function isWordLike(text: string): boolean {
  return !/[0-9]/.test(text) && (isMadeOfWords(text) || isMadeOfWords(text.toLowerCase()) || ONE_CASE.test(text));
}

/** Whether a letter or digit at an offset continues a word. */
export function isInWord(text: string, at: number): boolean {
  if (at <= 0 || !isAlphanumericAt(text, at - 1) || !isAlphanumericAt(text, at)) return false;
  return !ESCAPE_END.test(text.slice(Math.max(0, at - MAX_ESCAPE_CHARS), at));
}

function isAlphanumericAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code !== SLASH && code !== PLUS && BASE64[code] === 1;
}

const SLASH = 0x2f;
const PLUS = 0x2b;

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

/** What may follow a provider's word without a sign between; gitleaks has `telegr` and `sumo` for telegram and sumologic. */
const FOLLOWER = /^(?:am|logic|api|app|access|auth|key|token|secret|pass|pwd|client|id|url|webhook|bot|org|v?[0-9])/;

function isWholeWord(text: string, start: number, end: number): boolean {
  const [before = '', first = '', after = ''] = [text[start - 1], text[start], text[end]];
  const isStart = !/[A-Za-z]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(first));
  const isEnd = !/[A-Za-z]/.test(after) || (/[A-Z]/.test(after) && /[a-z]/.test(text[end - 1] ?? ''));
  return isStart && (isEnd || FOLLOWER.test(lowerCase(text.slice(end, end + 8))));
}
