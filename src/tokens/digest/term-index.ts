import type { Piece } from './pieces.ts';

/** BM25. Lines are short and of similar length, so their length counts little. */
const K1 = 1.2;
const B = 0.3;
/** Terms that stand for what a text is about. */
const CENTRAL_TERMS = 24;

/** The terms of all pieces: numbered, counted, and as a list per piece. */
export class TermIndex {
  readonly #numbers = new Map<string, number>();
  readonly #terms: string[] = [];
  /** Pieces that have the term; how often it occurs. By term number. */
  readonly #pieceCounts: number[] = [];
  readonly #counts: number[] = [];
  /** Term numbers of all pieces one after another, and where those of each piece begin. */
  #all = new Int32Array(4096);
  readonly #starts: Int32Array;
  readonly #size: number;

  constructor(text: string, pieces: readonly Piece[]) {
    this.#size = pieces.length;
    this.#starts = new Int32Array(pieces.length + 1);
    const seenIn: number[] = [];
    let length = 0;
    for (const [i, { start, end }] of pieces.entries()) {
      for (const term of termsOf(text.slice(start, end))) {
        const number = this.#numberOf(term);
        if (seenIn[number] !== i) this.#pieceCounts[number] = (this.#pieceCounts[number] ?? 0) + 1;
        seenIn[number] = i;
        this.#counts[number] = (this.#counts[number] ?? 0) + 1;
        if (length === this.#all.length) this.#grow();
        this.#all[length++] = number;
      }
      this.#starts[i + 1] = length;
    }
  }

  /** The term numbers of a piece. */
  termsAt(piece: number): Int32Array {
    return this.#all.subarray(this.#starts[piece], this.#starts[piece + 1]);
  }

  /** The words of a piece, numbers left out, each once: what makes it like another one. */
  wordsAt(piece: number): Set<number> {
    return new Set([...this.termsAt(piece)].filter((number) => !isNumber(this.#terms[number] ?? '')));
  }

  /** 32 bits, equal for pieces that differ in numbers alone. */
  patternAt(piece: number): number {
    let hash = 0x811c9dc5;
    for (const number of this.termsAt(piece)) {
      if (!isNumber(this.#terms[number] ?? '')) hash = Math.imul(hash ^ number, 0x01000193);
    }
    return hash;
  }

  /** BM25 of each piece, divided by the most that these terms could give: 0 to 1. */
  score(terms: readonly string[]): Float64Array {
    const weights = new Map<number, number>();
    let most = 0;
    for (const term of new Set(terms)) {
      const number = this.#numbers.get(term);
      const weight = this.#rarity(number);
      most += weight * (K1 + 1);
      if (number !== undefined) weights.set(number, weight);
    }
    return Float64Array.from({ length: this.#size }, (_, piece) =>
      weights.size === 0 ? 0 : Math.min(1, this.#bm25(piece, weights) / most),
    );
  }

  /** The terms that are frequent but not everywhere. */
  centralTerms(): string[] {
    const strengths = this.#terms.map((term, number) =>
      term.length < 3 || isNumber(term) || STOP_WORDS.has(term)
        ? 0
        : (this.#counts[number] ?? 0) * this.#rarity(number),
    );
    return [...this.#terms.keys()]
      .filter((number) => (strengths[number] ?? 0) > 0)
      .sort((a, b) => (strengths[b] ?? 0) - (strengths[a] ?? 0) || a - b)
      .slice(0, CENTRAL_TERMS)
      .map((number) => this.#terms[number] ?? '');
  }

  #bm25(piece: number, weights: ReadonlyMap<number, number>): number {
    const terms = this.termsAt(piece);
    const found = terms.filter((number) => weights.has(number)).sort();
    const average = (this.#starts[this.#size] ?? 0) / this.#size;
    const norm = K1 * (1 - B + (B * terms.length) / average);
    let score = 0;
    for (let i = 0; i < found.length; ) {
      const number = found[i] ?? 0;
      const start = i;
      while (found[i] === number) i++;
      const times = i - start;
      score += ((weights.get(number) ?? 0) * times * (K1 + 1)) / (times + norm);
    }
    return score;
  }

  /** Inverse document frequency; a term that no piece has is the rarest. */
  #rarity(number: number | undefined): number {
    const count = number === undefined ? 0 : (this.#pieceCounts[number] ?? 0);
    return Math.log(1 + (this.#size - count + 0.5) / (count + 0.5));
  }

  #numberOf(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    this.#numbers.set(term, this.#terms.length);
    return this.#terms.push(term) - 1;
  }

  #grow(): void {
    const bigger = new Int32Array(this.#all.length * 2);
    bigger.set(this.#all);
    this.#all = bigger;
  }
}

/** Scripts without blanks between words: each character is a term. */
const SINGLE = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]';
const WORDS = new RegExp(
  `${SINGLE}|[\\p{Lu}]+(?![\\p{Ll}])|\\p{Lu}?[\\p{Ll}\\p{M}]+|(?:(?!${SINGLE})[\\p{Lo}\\p{M}])+|\\p{N}+`,
  'gu',
);
const ASCII_WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const ONLY_ASCII = /^[\x20-\x7e\t]*$/;
const IS_NUMBER = /^\p{N}/u;
const IS_SINGLE = new RegExp(`^${SINGLE}`, 'u');

/** Words that say nothing about what a text is about. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  'about after all also an and any are as at be because been before but by can could did does for from had has have her his how if in into is it its just like more not now of on one only or other our out over she should some such than that the their them then there these they this those through to too under until up was we were what when where which while who why will with would you your'.split(
    ' ',
  ),
);

/**
 * Returns the terms of a piece of text in order: words in lower case without a plural s, the parts of camelCase and
 * snake_case names, numbers. Single Latin letters are left out.
 */
export function termsOf(piece: string): string[] {
  const words = piece.match(ONLY_ASCII.test(piece) ? ASCII_WORDS : WORDS) ?? [];
  return words.flatMap((word) => (word.length > 1 || isSingle(word) ? [normalize(word)] : []));
}

function isNumber(term: string): boolean {
  return IS_NUMBER.test(term);
}

function isSingle(word: string): boolean {
  return word > '\u3000' && IS_SINGLE.test(word);
}

function normalize(word: string): string {
  const folded = word.toLowerCase();
  return folded.length > 3 && folded.endsWith('s') && !folded.endsWith('ss') ? folded.slice(0, -1) : folded;
}
