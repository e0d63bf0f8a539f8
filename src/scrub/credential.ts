import { unusualPairs } from './words.ts';

/** Bits that a value needs to count as a credential wherever it stands, by the estimate below. */
const LEAST_BITS = 49;
/** Bits of a word, and of all words of a value: names consist of words, so their number says little. */
const WORD_BITS = 12;
const MOST_WORD_BITS = 16;
/** Digits of a run that count: longer ones are dates, numbers and counters. */
const MOST_DIGITS = 4;
const DIGIT_BITS = Math.log2(10);
/** Digits count at most this much more than the random letters, beside those that stand after words. */
const MOST_DIGITS_PER_LETTER = 1.5;
const MOST_DIGIT_BITS_OF_WORDS = 14;
const LETTER_BITS = Math.log2(26);
/** Signs between pieces. */
const SIGN_BITS = 3;
const MOST_SIGN_BITS = 8;

/** Runs that a person or a program writes as one: a word, an abbreviation, a number, a sign. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|[0-9]+|[^A-Za-z0-9]/g;
/** An escape of a URL or of a string is one sign. */
const ESCAPE = /%[0-9a-f]{2}|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|.)/gi;
/** Letters of a run that may be a word of some language; shorter ones are an accident. */
const MIN_WORD_CHARS = 3;
const MAX_WORD_CHARS = 16;
const VOWEL = /[aeiouy]/i;
const ABBREVIATION = /^[A-Z]{3,5}$/;
/** Letters of a word of another language for which one pair is allowed that English does not have: of a short, a long word. */
const LETTERS_PER_UNUSUAL = { short: 5, long: 3 };
const LONG_WORD_CHARS = 8;

/** A value of this length in runs that are this short on average is random: names and code have longer ones. */
const SHREDDED_CHARS = 16;
const MOST_RUN_CHARS = 2.6;
const MIN_LETTERS = 4;

/**
 * Whether a value could be a credential by itself, whatever stands beside it. Estimates how much of it is random: words
 * and numbers count little, letters and digits in turn count fully. A password that a person chose, a name, code, a date
 * and a version stay below the limit; what a generator made is above it.
 */
export function isCredential(value: string): boolean {
  const letterBits = LETTER_BITS + (/[a-z]/.test(value) && /[A-Z]/.test(value) ? 1 : 0);
  const plain = value.replace(ESCAPE, '%');
  const pieces = plain.match(PIECES) ?? [];
  if (isShredded(plain, pieces)) return true;
  let [words, signs, digits, letters] = [0, 0, 0, 0];
  for (const piece of pieces) {
    if (/[0-9]/.test(piece)) digits += DIGIT_BITS * Math.min(MOST_DIGITS, piece.length);
    else if (!/[A-Za-z]/.test(piece)) signs += SIGN_BITS;
    else if (isWordLike(piece)) words += WORD_BITS;
    else letters += letterBits * piece.length;
  }
  const random =
    letters + Math.min(digits, MOST_DIGITS_PER_LETTER * letters + (words > 0 ? MOST_DIGIT_BITS_OF_WORDS : 0));
  return random + Math.min(words, MOST_WORD_BITS) + Math.min(signs, MOST_SIGN_BITS) >= LEAST_BITS;
}

function isShredded(value: string, pieces: readonly string[]): boolean {
  const runs = pieces.filter((piece) => /[A-Za-z0-9]/.test(piece)).length;
  const chars = value.replace(/[^A-Za-z0-9]/g, '').length;
  return (
    chars >= SHREDDED_CHARS && chars <= MOST_RUN_CHARS * runs && value.replace(/[^A-Za-z]/g, '').length >= MIN_LETTERS
  );
}

function isWordLike(piece: string): boolean {
  if (piece.length < MIN_WORD_CHARS || piece.length > MAX_WORD_CHARS) return false;
  if (ABBREVIATION.test(piece)) return true;
  const letters = LETTERS_PER_UNUSUAL[piece.length < LONG_WORD_CHARS ? 'short' : 'long'];
  return VOWEL.test(piece) && unusualPairs(piece.toLowerCase()) <= Math.floor(piece.length / letters);
}
