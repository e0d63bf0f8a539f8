import type { ChoiceCard } from './card.ts';

/** The order of a browse (gateway surface §2.5): the best score first, equal ones by id. Cards without a score come last. */
export function byScore(a: ChoiceCard, b: ChoiceCard): number {
  const scoreOf = ({ score }: ChoiceCard): number => score ?? Number.NEGATIVE_INFINITY;
  if (scoreOf(a) !== scoreOf(b)) return scoreOf(b) > scoreOf(a) ? 1 : -1;
  return byId(a, b);
}

export function byId(a: ChoiceCard, b: ChoiceCard): number {
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}
