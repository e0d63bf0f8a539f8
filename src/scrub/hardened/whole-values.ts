import { firstIndex } from '../../text/binary-search.ts';
import type { Finding } from '../finding.ts';
import { isMadeOfWords } from '../words.ts';
import { beginsNamed, isUsualWidth, valueAfter, type Widths, widthsAround } from './views/joints.ts';

/** A view may show a value without the first characters that a rule takes with it, as in https://. */
const REACH_CHARS = 16;

/** What was found in a text as it is. Tells where a value ends that a view read on across line ends. */
export class WholeValues {
  readonly #text: string;
  readonly #found: readonly Finding[];

  constructor(text: string, found: readonly Finding[]) {
    this.#text = text;
    this.#found = found.toSorted((a, b) => a.start - b.start);
  }

  /**
   * Returns the end of a finding that a view made of this text. A value that is a finding in its own line ends there,
   * unless it was wrapped: the next line is no part of it. If another rule found it, it counts if it has a mark of its
   * own (`isMarked`): a name before the first half of a value makes this half a finding too. A value of fixed length
   * that ends in its line is whole: `isShown` says whether its rule found the same in the view.
   */
  endOf(
    { rule, start, end }: Finding,
    isMarked: (rule: string, value: string) => boolean,
    isShown: (whole: Finding) => boolean,
  ): number {
    let last = end;
    for (const whole of this.#startingIn(start - REACH_CHARS, start)) {
      if (whole.end <= start || whole.end >= last) continue;
      if (this.#endsLine(whole) && isMarked(whole.rule, this.#text.slice(whole.start, whole.end)) && isShown(whole)) {
        last = whole.end;
        continue;
      }
      const isOther = whole.rule !== rule;
      if (isOther && (whole.start < start || !isMarked(whole.rule, this.#text.slice(start, whole.end)))) continue;
      if (!this.#continues(whole, end)) last = whole.end;
    }
    return last;
  }

  /** The findings that begin between two offsets, both included. */
  *#startingIn(from: number, to: number): Generator<Finding> {
    const first = firstIndex(0, this.#found.length, (at) => (this.#found[at]?.start ?? 0) >= from);
    for (let at = first; (this.#found[at]?.start ?? Number.POSITIVE_INFINITY) <= to; at++) {
      const finding = this.#found[at];
      if (finding !== undefined) yield finding;
    }
  }

  #endsLine({ end }: Finding): boolean {
    LINE_END.lastIndex = end;
    return LINE_END.test(this.#text);
  }

  /** Whether a value goes on in the next line. True if no line end follows it: a sign joins it to what follows. */
  #continues(whole: Finding, end: number): boolean {
    LINE_END.lastIndex = whole.end;
    const [lineEnd] = LINE_END.exec(this.#text) ?? [];
    if (lineEnd === undefined) return true;
    const nextLine = whole.end + lineEnd.length;
    const next = valueAfter(this.#text, nextLine);
    for (const _ of this.#startingIn(next.start, next.start)) return false;
    const value = this.#text.slice(Math.max(whole.start, whole.end - COMPARED_CHARS), whole.end);
    const rest = this.#text.slice(next.start, Math.min(next.end, end));
    const widths = widthsAround(this.#text, whole.end, nextLine);
    const isFull = next.start + rest.length === nextLine + widths.next;
    if (isOrdinary(rest) || (isFull && HASH_LENGTHS.has(rest.length) && ALL_HEX.test(rest))) return false;
    if (isFull && widths.width === widths.next) return !isOtherHash(value, rest);
    return looksLikeRest(value, rest, this.#leastRest(widths));
  }

  /** Characters of a rest that is believed: fewer if the lines around show that the text was folded. */
  #leastRest({ start, lineBefore, width, next, before }: Widths): number {
    if (width === next) return MIN_MIXED_CHARS;
    const isFolded = width === before && !beginsNamed(this.#text, start) && !beginsNamed(this.#text, lineBefore);
    if (isFolded) return MIN_MIXED_CHARS;
    return width === before || isUsualWidth(width) ? MIN_REST_CHARS : Number.POSITIVE_INFINITY;
  }
}

/** The beginning of an ordinary line: a name, words, a number in hex, an id, a version. */
function isOrdinary(rest: string): boolean {
  if (/^0x[0-9a-f]+$/i.test(rest) || UUID.test(rest) || VERSION.test(rest)) return true;
  return rest.length >= MIN_NAME_CHARS && isMadeOfWords(rest);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const VERSION = /^v?[0-9]+(?:\.[0-9]+)+/;
/** The rest of a folded value may be a few letters that happen to be a word. */
const MIN_NAME_CHARS = 4;
/** A line of hex alone that is as long as an abbreviated commit, an MD5, a SHA-1 or a SHA-256 is a hash. */
const HASH_LENGTHS: ReadonlySet<number> = new Set([7, 8, 12, 32, 40, 64]);

const LINE_END = /\r?\n|\r/y;
/** Characters at the end of a value that its rest is compared with: they are behind the mark of the value. */
const COMPARED_CHARS = 20;
/** A shorter rest is of no use to anyone, and ordinary lines begin with as many characters of any kind. */
const MIN_REST_CHARS = 8;
const MIN_MIXED_CHARS = 2;

const KINDS = [/[a-z]/, /[A-Z]/, /[0-9]/];
const SIGNS = /[^A-Za-z0-9]/g;
const HAS_LETTER = /[A-Za-z]/;
const ALL_HEX = /^[0-9A-Fa-f]+$/;
/** A log line begins like this. A value with few letters of its own could not tell it from its rest. */
const DATE = /^[0-9]{4}-[01][0-9]-[0-3][0-9](?![0-9])/;
/** A value with small letters and capitals has both among this many letters. */
const ENOUGH_LETTERS = 10;
/** Fewer letters among letters and digits do not show of what kind a value is. */
const MIN_LETTER_SHARE = 1 / 3;
/** The rest has at least this share of the letters of a value, and of its changes between kinds of characters. */
const LETTER_SHARE = 1 / 2;
const CHANGE_SHARE = 1 / 3;

/**
 * Whether the beginning of a line looks like the rest of a value: it has the same kinds of characters, and changes
 * between them nearly as often. Numbers, dates, versions, names, words and hashes do not.
 */
function looksLikeRest(value: string, rest: string, min: number): boolean {
  if (rest.length < min || !HAS_LETTER.test(rest) || DATE.test(rest) || isOtherHash(value, rest)) return false;
  if (letterShare(rest) < LETTER_SHARE * letterShare(value)) return false;
  const letters = rest.replace(/[^A-Za-z]/g, '').length;
  const mayHaveAny = letterShare(value) < MIN_LETTER_SHARE || KINDS.every((kind) => kind.test(rest));
  for (const kind of KINDS.slice(0, 2)) {
    if (!mayHaveAny && kind.test(rest) && !kind.test(value)) return false;
    if (letters >= ENOUGH_LETTERS && kind.test(value) && !kind.test(rest)) return false;
  }
  return changeRate(rest) >= CHANGE_SHARE * changeRate(value);
}

/** Whether one of both is a hash in hex and the other is not. Unknown, so false, if one of them is a number. */
function isOtherHash(value: string, rest: string): boolean {
  if (letterShare(value) < MIN_LETTER_SHARE || !HAS_LETTER.test(rest)) return false;
  return ALL_HEX.test(value.replace(SIGNS, '')) !== ALL_HEX.test(rest.replace(SIGNS, ''));
}

function letterShare(text: string): number {
  return text.replace(/[^A-Za-z]/g, '').length / Math.max(1, text.replace(SIGNS, '').length);
}

/** The share of neighbours that are of different kinds, without signs. */
function changeRate(text: string): number {
  const kinds = [...text.replace(SIGNS, '')].map((character) => KINDS.findIndex((kind) => kind.test(character)));
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]);
  return changes.length / Math.max(1, kinds.length - 1);
}
