import { isStopWord, stemOf, wordsOf } from './words.ts';

/** A word of a query. */
export interface Term {
  readonly word: string;
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

function termsOf(words: readonly string[]): Term[] {
  const terms = new Map<string, Term>();
  for (const word of words) {
    const stem = stemOf(word);
    const weight = Math.min(REPEATED_MOST, (terms.get(stem)?.weight ?? 0) + 1);
    terms.set(stem, { word: terms.get(stem)?.word ?? word, stem, weight });
  }
  return [...terms.values()].slice(0, TERMS_MAX);
}
