import type { Entry } from './entries.ts';

/** Of each stem, how many names have it, and in which form. */
export type NameCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * The word that most names in a group have and that few names outside it have, as a segment. Among words that do equally
 * well, the first in the alphabet. Empty if no word can be a segment. `all`: counts of the group and all others.
 */
export function nameOfGroup(group: readonly Entry[], all: NameCounts, size: number): string {
  const others = Math.max(1, size - group.length);
  let [best, most] = ['', Number.NEGATIVE_INFINITY];
  for (const [stem, forms] of countNames(group)) {
    const own = total(forms);
    const score = own / group.length - (total(all.get(stem)) - own) / others;
    const form = mostFrequent(forms);
    if (score < most || (score === most && best !== '' && best < form)) continue;
    [best, most] = [form, score];
  }
  return best;
}

export function countNames(entries: readonly Entry[]): NameCounts {
  const counts = new Map<string, Map<string, number>>();
  for (const { names } of entries) {
    for (const [stem, form] of names) {
      const forms = counts.get(stem) ?? new Map<string, number>();
      forms.set(form, (forms.get(form) ?? 0) + 1);
      counts.set(stem, forms);
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
