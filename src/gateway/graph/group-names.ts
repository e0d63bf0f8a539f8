import { isStopWord, stemOf, wordsOf } from '../router/words.ts';
import type { Entry } from './entries.ts';
import { slugOf } from './path.ts';

/**
 * The word that most names in a group have and that few names outside it have, as a segment. Among words that do equally
 * well, the first in the alphabet. Empty if no word can be a segment.
 */
export function nameOfGroup(group: readonly Entry[], all: readonly Entry[]): string {
  const inside = countWords(group);
  const outside = countWords(all);
  const others = Math.max(1, all.length - group.length);
  let [best, most] = ['', Number.NEGATIVE_INFINITY];
  for (const [stem, forms] of inside) {
    const own = total(forms);
    const score = own / group.length - (total(outside.get(stem)) - own) / others;
    const form = mostFrequent(forms);
    if (score < most || (score === most && best !== '' && best < form)) continue;
    [best, most] = [form, score];
  }
  return best;
}

/** Of each stem, how many names have it in which form. */
function countWords(entries: readonly Entry[]): Map<string, Map<string, number>> {
  const counts = new Map<string, Map<string, number>>();
  for (const { item } of entries) {
    for (const word of new Set(wordsOf(item.name))) {
      const form = slugOf(word);
      if (form === '' || isStopWord(word)) continue;
      const forms = counts.get(stemOf(word)) ?? new Map<string, number>();
      forms.set(form, (forms.get(form) ?? 0) + 1);
      counts.set(stemOf(word), forms);
    }
  }
  return counts;
}

function total(forms: ReadonlyMap<string, number> | undefined): number {
  return [...(forms?.values() ?? [])].reduce((sum, count) => sum + count, 0);
}

function mostFrequent(forms: ReadonlyMap<string, number>): string {
  const sorted = [...forms].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return sorted[0]?.[0] ?? '';
}

const RANGE_END_CHARS = 24;

/** From where to where in the alphabet, with as many letters as tell the neighbours apart: `a-c`, `get_i-get_u`. */
export function nameOfRange(before: string, first: string, last: string, after: string): string {
  return [distinct(first, before), distinct(last, after)].filter((part) => part !== '').join('-');
}

function distinct(slug: string, neighbour: string): string {
  let length = 0;
  while (length < slug.length && slug[length] === neighbour[length]) length += 1;
  return slug.slice(0, Math.min(length + 1, RANGE_END_CHARS));
}
