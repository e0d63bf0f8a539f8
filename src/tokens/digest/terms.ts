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
 * The terms of a piece of text in their order: words in lower case without the s of a plural, the parts of
 * camelCase and snake_case names, numbers. Single Latin letters are none.
 */
export function termsOf(piece: string): string[] {
  const words = piece.match(ONLY_ASCII.test(piece) ? ASCII_WORDS : WORDS) ?? [];
  return words.flatMap((word) => (word.length > 1 || isSingle(word) ? [normalize(word)] : []));
}

export function isNumber(term: string): boolean {
  return IS_NUMBER.test(term);
}

function isSingle(word: string): boolean {
  return word > '\u3000' && IS_SINGLE.test(word);
}

function normalize(word: string): string {
  const folded = word.toLowerCase();
  return folded.length > 3 && folded.endsWith('s') && !folded.endsWith('ss') ? folded.slice(0, -1) : folded;
}
