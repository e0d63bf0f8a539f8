import { isStopWord, stemOf, wordsOf } from './words.ts';

/** A word of a query. */
export interface Term {
  readonly stem: string;
  /** How much it counts: how often the query has it, at most `REPEATED_MOST`. */
  readonly weight: number;
}

export interface Query {
  readonly terms: readonly Term[];
  /** The terms of each clause, if there are several: a task of several steps needs a tool for each. */
  readonly clauses: readonly (readonly Term[])[];
}

const QUERY_MAX_CHARS = 8_192;
const TERMS_MAX = 96;
const CLAUSES_MAX = 12;
const CLAUSE_MIN_TERMS = 2;
const REPEATED_MOST = 2;

/** Where a clause ends: at punctuation, and at a word that joins clauses. */
const CLAUSE_END = /[.;!?\n]+\s|,\s*|[。！？；，]|\b(?:and|then|also)\b/iu;

/** Without words that say nothing about a tool, unless there are no others. */
export function parseQuery(text: string): Query {
  const cut = text.slice(0, QUERY_MAX_CHARS);
  const clauses = cut
    .split(CLAUSE_END)
    .map((clause) => termsOf(tellingWords(clause)))
    .filter(({ length }) => length >= CLAUSE_MIN_TERMS);
  const telling = tellingWords(cut);
  return {
    terms: termsOf(telling.length > 0 ? telling : wordsOf(cut)),
    clauses: clauses.length < 2 ? [] : clauses.slice(0, CLAUSES_MAX),
  };
}

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !isStopWord(word));
}

/** Two words in a row may be one word in a catalogue: such pairs are terms as well, and found only if an item has them. */
function termsOf(words: readonly string[]): Term[] {
  const weights = new Map<string, number>();
  for (const word of words) {
    const stem = stemOf(word);
    weights.set(stem, Math.min(REPEATED_MOST, (weights.get(stem) ?? 0) + 1));
  }
  return Array.from(weights, ([stem, weight]) => ({ stem, weight })).slice(0, TERMS_MAX);
}
