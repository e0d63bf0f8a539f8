/** What is learned from memories that are stored and from feedback. Pure. */
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
  tool: { alpha: 1, beta: 1 },
  import: { alpha: 2, beta: 1 },
};

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

const DUPLICATE_FROM = 0.8;
const SAME_TASK_FROM = 0.6;

/**
 * True if the two say the same with nearly the same words. Numbers and negations must be equal: "never use port 80" is not
 * "use port 8080".
 */
export function isNearDuplicate(one: Texts, other: Texts): boolean {
  if (one.outcome !== other.outcome) return false;
  const [a, b] = [wholeText(one), wholeText(other)];
  if (decisiveWords(a) !== decisiveWords(b)) return false;
  return similarity(telling(a), telling(b)) >= DUPLICATE_FROM;
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

function wholeText({ title, description, content }: Texts): string {
  return `${title}\n${description}\n${content}`;
}

const NEGATIONS: ReadonlySet<string> = new Set([
  ...['not', 'no', 'never', 'without', 'avoid', 'cannot', 'nor', 'neither', 'instead', 'don', 'doesn', 'isn', 'aren'],
  ...['won', 'shouldn', 'mustn', 'didn', 'wasn', 'disable', 'disabled', 'enable', 'enabled', 'before', 'after'],
]);

/** The distinct numbers, names with digits and words that turn a sentence around. */
function decisiveWords(text: string): string {
  const words = indexWords(text).filter((word) => /\p{N}/u.test(word) || NEGATIONS.has(word));
  return [...new Set(words)].sort().join(' ');
}
