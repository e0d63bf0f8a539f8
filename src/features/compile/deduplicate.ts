import { hasForm } from '../events/event.ts';
import type { Dropped, Item, Sieved } from './item.ts';
import { byScore } from './score.ts';
import { wordsOf } from './words.ts';

/** The share of words that two texts have in common, of all words of both, from which on they say the same. */
const SAME_SHARE = 0.8;

interface Kept {
  readonly words: ReadonlySet<string>;
  times: number;
}

/**
 * Stage 6: of events that say nearly the same, the best stays and counts the others. Calls that ended differently, and texts
 * with other numbers, are never the same. An event that others depend on stays.
 */
export function deduplicate(items: readonly Item[]): Sieved {
  const parents = new Set(items.map(({ event }) => event.parent));
  const words = new Map(items.map((item) => [item, wordsOf(item.shown)]));
  const frequency = frequencies(words.values());
  const kept = new Map<Item, Kept>();
  /** Kept items by group and word: two that are the same share one of their rarest words. */
  const index = new Map<string, Item[]>();
  const dropped: Dropped[] = [];
  for (const item of items.toSorted(byScore)) {
    const own = words.get(item) ?? new Set();
    const keys = rarest(own, frequency).map((word) => `${groupOf(item, own)}\n${word}`);
    const same = keys
      .flatMap((key) => index.get(key) ?? [])
      .find((other) => shareOf(own, kept.get(other)?.words ?? new Set()) >= SAME_SHARE);
    const twin = same === undefined ? undefined : kept.get(same);
    if (twin !== undefined && !parents.has(item.event.seq)) {
      twin.times += item.times;
      dropped.push({ seq: item.event.seq, reason: 'duplicate' });
      continue;
    }
    kept.set(item, { words: own, times: item.times });
    for (const key of keys) index.set(key, [...(index.get(key) ?? []), item]);
  }
  const left = items.flatMap((item) => {
    const known = kept.get(item);
    return known === undefined ? [] : [{ ...item, times: known.times }];
  });
  return { items: left, dropped };
}

function groupOf({ event }: Item, words: ReadonlySet<string>): string {
  const numbers = [...words].filter((word) => /\p{N}/u.test(word)).sort();
  const result = hasForm(event, 'call') ? [event.facts.tool, event.facts.exitCode, event.facts.errorCode] : [];
  return JSON.stringify([event.kind, event.session.branch, ...result, ...numbers]);
}

function frequencies(sets: Iterable<ReadonlySet<string>>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const set of sets) for (const word of set) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** As many words as make sure that two sets with `SAME_SHARE` in common must share one of them. A text without words has one empty word. */
function rarest(words: ReadonlySet<string>, frequency: ReadonlyMap<string, number>): string[] {
  if (words.size === 0) return [''];
  const ordered = [...words].sort(
    (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || (a < b ? -1 : a > b ? 1 : 0),
  );
  return ordered.slice(0, words.size - Math.ceil(SAME_SHARE * words.size) + 1);
}

function shareOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const common = [...a].filter((word) => b.has(word)).length;
  return common / (a.size + b.size - common);
}
