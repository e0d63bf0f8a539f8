/** Texts as the words that are indexed and searched for. Pure. */

/** A word is never longer: an encoded blob is no word. */
const WORD_MAX_CHARS = 64;
/** Characters of a query that are looked at, and distinct words that are searched for. */
const QUERY_MAX_CHARS = 8_192;
const QUERY_MAX_WORDS = 48;

const RUN = /[\p{L}\p{M}\p{N}_]+/gu;
/** Scripts that put no blanks between words: their texts are searched by pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;

/**
 * The words of a text in their order, in lower case. An identifier gives its parts, by case and by punctuation, and all
 * parts joined: `getUserId` and `get_user_id` both give get, user, id, getuserid.
 */
export function indexWords(text: string): string[] {
  return runsOf(text).flatMap((run) => wordsOfRun(run, 'index'));
}

/** The distinct words to search for: without the most frequent words of English, unless there are no others. */
export function queryWords(query: string): string[] {
  const words = runsOf(query.slice(0, QUERY_MAX_CHARS)).flatMap((run) => wordsOfRun(run, 'query'));
  const distinct = [...new Set(words)];
  const telling = distinct.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : distinct).slice(0, QUERY_MAX_WORDS);
}

/** An expression for FTS5 that any of the words matches. The words hold no quotes, so any text is a valid query. */
export function matchExpression(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' OR ');
}

/** The words by which two texts are compared. */
export function telling(text: string): ReadonlySet<string> {
  return new Set(indexWords(text).filter((word) => !STOP_WORDS.has(word)));
}

function runsOf(text: string): string[] {
  return text.normalize('NFKC').match(RUN) ?? [];
}

/** Most runs are one word as they are. */
const PLAIN = /^[a-z0-9]+$/;

function wordsOfRun(run: string, purpose: 'index' | 'query'): string[] {
  if (PLAIN.test(run)) return [run.slice(0, WORD_MAX_CHARS)];
  const words: string[] = [];
  let from = 0;
  for (const match of run.matchAll(UNSPACED)) {
    words.push(...identifierWords(run.slice(from, match.index)), ...characterWords(match[0], purpose));
    from = match.index + match[0].length;
  }
  return [...words, ...identifierWords(run.slice(from))];
}

function identifierWords(run: string): string[] {
  const parts = run
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .split('_')
    .filter((part) => part !== '')
    .map((part) => part.slice(0, WORD_MAX_CHARS));
  return parts.length < 2 ? parts : [...parts, parts.join('').slice(0, WORD_MAX_CHARS)];
}

/** Single characters too are indexed, and searched for only if the query has just one. */
function characterWords(text: string, purpose: 'index' | 'query'): string[] {
  const characters = [...text];
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return purpose === 'query' && pairs.length > 0 ? pairs : [...characters, ...pairs];
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
  could did do does doing done down during each few for from further get got had has have having he her here hers him his
  how i if in into is it its itself just let like make may me might more most must my need no nor not of off on once one
  only or other our ours out over own please same she should so some such than that the their theirs them then
  there these they this those through to too under until up us use used using very want was way we were what when where
  which while who whom why will with would you your yours s t re ve ll d m don`.split(/\s+/),
);
