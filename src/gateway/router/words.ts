/** Texts of a catalogue and of queries as the words that are compared. Pure. */
import { stemmer } from 'stemmer';

/** An encoded blob is no word. */
const WORD_MAX_CHARS = 64;

const RUN = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that put no blanks between words: their texts are compared by pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/u;
const UNSPACED_PARTS = new RegExp(`(${UNSPACED.source})`, 'u');
/** Most texts are ASCII, which is split five times as fast. */
const ASCII = /^[\t\n\r -~]*$/;
const ASCII_RUN = /[a-zA-Z0-9]+/g;
const PLAIN = /^[a-z]+$/;
/** Not the marks of other scripts, where they are vowels. */
const LATIN_ACCENTS = /[\u0300-\u036f]+/g;

/** The words of a text in their order, without accents and in lower case. Identifiers are split at case and punctuation. */
export function wordsOf(text: string): string[] {
  return runsOf(text).flatMap(wordsOfRun);
}

/** Words, and identifiers of several words, as they are written. */
export function runsOf(text: string): readonly string[] {
  return (ASCII.test(text) ? text.match(ASCII_RUN) : text.normalize('NFKC').match(RUN)) ?? [];
}

/** The form in which words are compared: English words by their stem. */
export function stemOf(word: string): string {
  return PLAIN.test(word) && word.length > 2 ? stemmer(word) : word;
}

export function wordsOfRun(run: string): string[] {
  if (PLAIN.test(run)) return [run.slice(0, WORD_MAX_CHARS)];
  return run.split(UNSPACED_PARTS).flatMap((part) => (UNSPACED.test(part) ? pairsOf(part) : identifierParts(part)));
}

function identifierParts(run: string): string[] {
  return run
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L}{2})(\p{N})/gu, '$1 $2')
    .normalize('NFD')
    .replace(LATIN_ACCENTS, '')
    .normalize('NFC')
    .toLowerCase()
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => part.slice(0, WORD_MAX_CHARS));
}

function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Words of a query that say nothing about a tool. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** The closed classes of English: pronouns, articles, prepositions, conjunctions, auxiliaries; and words of asking. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
  could did do does doing done down during each few for from further had has have having he her here hers him his
  how i if in into is it its itself just let like may me might more most must my need no nor not of off on once
  only or other our ours out over own please same she should so some such than that the their theirs them then
  there these they this those through to too under until up us use used using very want was way we were what when where
  which while who whom whose why will with would you your yours s t re ve ll d m don help`.split(/\s+/),
);
