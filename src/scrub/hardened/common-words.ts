import type { Finding } from '../finding.ts';
import { isCovered } from '../spans.ts';
import { LETTERS_PER_UNUSUAL, unusualPairs } from '../words.ts';

/** A single word, as `petclinic` and `Postgres`. */
const WORD = /^[A-Za-z][a-z]{2,19}$|^[A-Z]{3,20}$/;
/** Characters on each side in which the word may be used for something else. */
const REACH_CHARS = 2000;
/** A name before a word that says the word is secret there too. */
const TELLING_BEFORE =
  /(?:pass\w*|pwd|psw|pw|secret\w*|token\w*|key|auth|cred\w*|identified by|-p|-a|-w)["'\]]*[ \t]*(?:=>|:=|[:=,(]|[ \t])?[ \t]*\\*["'`]?$/i;
/** Characters at the end of a finding that are read as words: a search for the end of a long one is quadratic. */
const MAX_NAME_CHARS = 256;
/** Words looked at; a text of words is no text of passwords. */
const MAX_WORDS = 500;

/**
 * Drops findings that are a word which the text around uses for something else, as a user, a database or an image:
 * `MYSQL_USER=petclinic`, `MYSQL_PASSWORD=petclinic`. A word is masked only beside its key, so masking it would hide
 * nothing.
 */
export function withoutCommonWords(text: string, found: readonly Finding[]): Finding[] {
  let looked = 0;
  return found.filter(({ start, end }) => {
    const word = text.slice(start, end);
    if (isPartOfName(text.slice(Math.max(0, start - 2), start), word)) return false;
    if (!WORD.test(word) || looked >= MAX_WORDS) return true;
    looked += 1;
    return !isUsedAround(text, word, { start, end }, found);
  });
}

/** A mark behind a sign, such as `sk_` in `mdb_sa_sk_…`, may be a part of a name: what follows is words then. */
function isPartOfName(before: string, found: string): boolean {
  if (!/[A-Za-z0-9][-._]$/.test(before)) return false;
  const [last] = /[A-Za-z]{16,}$/.exec(found.slice(-MAX_NAME_CHARS)) ?? [];
  if (last === undefined) return false;
  return unusualPairs(last.toLowerCase()) <= last.length / LETTERS_PER_UNUSUAL;
}

function isUsedAround(
  text: string,
  word: string,
  { start, end }: Pick<Finding, 'start' | 'end'>,
  found: readonly Finding[],
): boolean {
  const from = Math.max(0, start - REACH_CHARS);
  const around = text.slice(from, end + REACH_CHARS);
  const use = new RegExp(`(?<![A-Za-z])${word}(?![A-Za-z])`, 'gi');
  for (const { index } of around.matchAll(use)) {
    const at = from + index;
    if (at === start || isCovered({ rule: '', start: at, end: at + word.length }, found)) continue;
    if (!TELLING_BEFORE.test(around.slice(Math.max(0, index - 60), index))) return true;
  }
  return false;
}
