import { hasForm, isFailure } from '../events/event.ts';
import type { Item } from './item.ts';
import type { PhaseRules } from './phase.ts';
import { wordsOf } from './words.ts';

/** Points of the newest event, of one that holds all words of the query, of a weight, and of a failure. */
const NEWEST = 1_000;
const ALL_WORDS = 1_000;
const WEIGHT = 250;
const FAILURE = 200;
/** A token costs a point, up to this many. */
const COST_MAX = 200;

/** Stage 5: newer, closer to the query, of a kind that the phase wants, failed, and short is better. */
export function scoreCandidates(
  items: readonly Item[],
  { weightOf }: Pick<PhaseRules, 'weightOf'>,
  query: string,
  position: number,
): Item[] {
  const wanted = wordsOf(query);
  const oldest = items[0]?.event.seq ?? position;
  const span = Math.max(1, position - oldest);
  return items.map((item) => {
    const { event, shown } = item;
    const recency = Math.round((NEWEST * (event.seq - oldest)) / span);
    const cost = Math.min(event.tokens, COST_MAX);
    const score =
      recency + matchOf(shown, wanted) + weightOf(event.kind) * WEIGHT + (isFailedCall(item) ? FAILURE : 0) - cost;
    return { ...item, score };
  });
}

function matchOf(text: string, wanted: ReadonlySet<string>): number {
  if (wanted.size === 0) return 0;
  const present = wordsOf(text);
  const found = [...wanted].filter((word) => present.has(word)).length;
  return Math.round((ALL_WORDS * found) / wanted.size);
}

function isFailedCall({ event }: Item): boolean {
  return hasForm(event, 'call') && isFailure(event.facts);
}

/** The best first; of equal ones the newest. */
export function byScore(a: Item, b: Item): number {
  return b.score - a.score || b.event.seq - a.event.seq;
}
