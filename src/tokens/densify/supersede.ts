/** A word, and not the unit of a number ("12kB", "12 kB"). */
const WORD = /(?<![\p{L}\p{N}]|\p{N} )\p{L}+/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const ONLY_SPACES = /^ *$/;
/** A spinner, not a ruled line. */
const SPINNER_MAX_CHARS = 4;

/**
 * Whether `next`, written over `shown` after a bare carriage return, is a later state of the same thing: then `shown`
 * says nothing any more. Old line ends and carriage returns in data are no progress, though a terminal would write
 * over them too. `only`: the text has no other line ends, so that more is asked for.
 */
export function supersedes(next: string, shown: string, only: boolean): boolean {
  const percent = shown.includes('%') && next.includes('%');
  if (percent && !only) return true;
  if (ONLY_SPACES.test(shown)) return true;
  if (ONLY_SPACES.test(next)) return next.length >= shown.length;
  if (!LETTER_OR_DIGIT.test(shown)) return !only || shown.length <= SPINNER_MAX_CHARS;
  return (percent || !only) && firstWord(shown) === firstWord(next);
}

function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? '';
}
