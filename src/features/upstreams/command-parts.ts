/** A part of a word of a command. */
export interface WordPart {
  readonly from: number;
  readonly to: number;
}

/** What parts a path from other text: a shell's blanks, quotes and operators, `=`, and the separators of lists of paths. */
const PIECES = /"[^"]+"|'[^']+'|[^\s'"`;|&()<>=:,]+/g;
const QUOTE = /^["']/;

/**
 * The parts of a word that may be a path, those that hold others first: the word, what follows `=` or `file://` in it, and, of words such
 * as a script for `sh -c` or a list of paths, each piece with a slash. A bare name is a path only if it is all of the word or follows `=`.
 */
export function partsOf(word: string): WordPart[] {
  const to = word.length;
  const afterEquals = word.indexOf('=') + 1;
  const heads = [0, afterEquals].map((from) => ({
    from: word.startsWith('file:///', from) ? from + 'file://'.length : from,
    to,
  }));
  const pieces = [...word.matchAll(PIECES)].flatMap(({ 0: piece, index }) => {
    const quote = QUOTE.test(piece) ? 1 : 0;
    return piece.includes('/') ? [{ from: index + quote, to: index + piece.length - quote }] : [];
  });
  return [...heads, ...pieces];
}

/** Replaces the parts of a word; `replace` returns null for one that is left to the parts within it. */
export function replaceParts(word: string, replace: (part: string) => string | null): string {
  let [text, end] = ['', 0];
  for (const { from, to } of partsOf(word)) {
    const replaced = from < end ? null : replace(word.slice(from, to));
    if (replaced === null) continue;
    text += word.slice(end, from) + replaced;
    end = to;
  }
  return text + word.slice(end);
}
