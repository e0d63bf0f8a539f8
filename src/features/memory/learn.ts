/** What is learned from memories that are stored and from feedback. Pure. */
import { stemmer } from 'stemmer';
import type { MemoryDraft, MemoryOrigin } from './item.ts';
import { indexWords, telling } from './query.ts';

/** A Beta distribution of the chance that a memory helps. */
export interface Posterior {
  readonly alpha: number;
  readonly beta: number;
}

/** What is believed of a memory before anybody has used it, by who made it. */
export const PRIORS: Readonly<Record<MemoryOrigin, Posterior>> = {
  person: { alpha: 4, beta: 1 },
  model: { alpha: 2, beta: 1 },
  distilled: { alpha: 1, beta: 1 },
  tool: { alpha: 1, beta: 1 },
  import: { alpha: 2, beta: 1 },
};

/** How much the outcome of a session counts that only the record shows, such as tests that pass again. A report counts 1. */
export const WEAK = 0.5;

export function meanOf({ alpha, beta }: Posterior): number {
  return alpha / (alpha + beta);
}

/** The prior and the evidence together. `good` and `bad` are sums of outcomes. */
export function posteriorOf(prior: Posterior, { good, bad }: { good: number; bad: number }): Posterior {
  return { alpha: prior.alpha + good, beta: prior.beta + bad };
}

const QUARANTINE_FAILURES = 3;
const QUARANTINE_BELOW = 0.4;
const RELEASE_FROM = 0.5;

/** A memory is set aside when it failed three times and mostly fails, and comes back when it mostly helps again. */
export function isToQuarantine(posterior: Posterior, bad: number, isQuarantined: boolean): boolean {
  const mean = meanOf(posterior);
  return isQuarantined ? mean < RELEASE_FROM : bad >= QUARANTINE_FAILURES && mean < QUARANTINE_BELOW;
}

type Texts = Pick<MemoryDraft, 'title' | 'description' | 'content' | 'task' | 'outcome'>;

/** Shares of stems that two near-duplicates have in common. A title is short: one other word in it can be another lesson. */
const SAME_TITLE_FROM = 0.75;
const SAME_TEXT_FROM = 0.6;
const SAME_TASK_FROM = 0.6;

/** Longer texts are no near-duplicates: comparing their words would take seconds. */
const COMPARED_MAX_CHARS = 8_192;

/** Finds texts that say the same as `one` in nearly the same words; its own words are read once. */
export function nearDuplicateOf(one: Texts): (other: Texts) => boolean {
  const text = wholeText(one);
  if (text === null) return () => false;
  const [own, decisive] = [stemsOf(one), decisiveWords(text)];
  return (other) => {
    if (one.outcome !== other.outcome) return false;
    const otherText = wholeText(other);
    if (otherText === null || decisiveWords(otherText) !== decisive) return false;
    const theirs = stemsOf(other);
    return (
      similarity(own.title, theirs.title) >= SAME_TITLE_FROM && similarity(own.text, theirs.text) >= SAME_TEXT_FROM
    );
  };
}

function stemsOf({ title, description, content }: Texts) {
  const stems = (text: string): ReadonlySet<string> => new Set(Array.from(telling(text), (word) => stemmer(word)));
  return { title: stems(title), text: stems(`${description}\n${content}`) };
}

/** True if one succeeded and the other failed at a similar task. */
export function isContradiction(one: Texts, other: Texts): boolean {
  const isOpposite =
    (one.outcome === 'success' && other.outcome === 'failure') ||
    (one.outcome === 'failure' && other.outcome === 'success');
  if (!isOpposite) return false;
  const isSameTask = one.task !== '' && similarity(telling(one.task), telling(other.task)) >= SAME_TASK_FROM;
  return isSameTask || similarity(telling(one.title), telling(other.title)) >= SAME_TASK_FROM;
}

/** The share of words that two sets have in common, from 0 to 1. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  if (small.size === 0) return 0;
  let common = 0;
  for (const word of small) if (large.has(word)) common += 1;
  return common / (one.size + other.size - common);
}

/** Null if it is too long to be compared, as it is or in the form that is compared. */
function wholeText({ title, description, content }: Texts): string | null {
  if (title.length + description.length + content.length > COMPARED_MAX_CHARS) return null;
  const text = `${title}\n${description}\n${content}`.normalize('NFKC');
  return text.length > 2 * COMPARED_MAX_CHARS ? null : text;
}

const NEGATIONS: ReadonlySet<string> = new Set([
  'not',
  'no',
  'never',
  'without',
  'avoid',
  'cannot',
  'nor',
  'neither',
  'instead',
  'don',
  'doesn',
  'isn',
  'aren',
  'won',
  'shouldn',
  'mustn',
  'didn',
  'wasn',
  'disable',
  'disabled',
  'enable',
  'enabled',
  'before',
  'after',
]);

/** What stands in quotes or backticks; an apostrophe in a word opens none. */
const LITERAL = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu;

/**
 * What must be equal: the distinct numbers, names with digits, words that turn a sentence around, quoted literals, and
 * words with signs in them, such as paths and options. "Never use port 80" is not "use port 8080", and `rm ./build` is not `rm /build`.
 */
function decisiveWords(text: string): string {
  const words = indexWords(text).filter((word) => /\p{N}/u.test(word) || NEGATIONS.has(word));
  const signed = text.split(/\s+/).map(withoutPunctuation).filter(isSigned);
  const literals = Array.from(
    text.matchAll(LITERAL),
    ([, ...quoted]) => quoted.find((part) => part !== undefined) ?? '',
  );
  return JSON.stringify([...new Set([...words, ...signed, ...literals])].sort());
}

/** Quotes, brackets and what ends a clause belong to the sentence, not to the word. */
function withoutPunctuation(word: string): string {
  return word.replace(/^["'`([{“‘«]+/u, '').replace(/["'`)\]}.,;:!?…”’»]+$/u, '');
}

/** Not a word with an apostrophe or a hyphen in it. */
function isSigned(word: string): boolean {
  return /[^\p{L}\p{M}\p{N}]/u.test(word) && !/^[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*$/u.test(word);
}
