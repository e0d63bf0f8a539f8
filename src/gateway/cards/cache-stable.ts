import { BREAKPOINT_ID, type ChoiceCard } from './card.ts';
import { byId } from './order.ts';

/** Where a client's prompt cache may end: what comes before has not changed since it was first shown (gateway surface §5.1). */
export const BREAKPOINT: ChoiceCard = Object.freeze({
  id: BREAKPOINT_ID,
  name: BREAKPOINT_ID,
  description: 'new below',
  tags: [],
  kind: 'internal',
  namespace: '',
  hasSchema: false,
  costHint: 0,
  sideEffects: false,
  safety: '',
});

/** The cards that a session has seen, for answers whose beginning stays the same byte for byte. */
export interface SeenCards {
  /**
   * The cards of a browse in the order of the cache: those the session has seen, by id and as it first saw them, the breakpoint
   * if there are both, then the new ones by id. The new ones count as seen from now on. Scores stay: the order is not theirs.
   */
  arrange(cards: readonly ChoiceCard[]): ChoiceCard[];
  /** Counts a hydrated card as seen. A hydration that failed has no card (§5.5). */
  add(card: ChoiceCard): void;
  /** Forgets everything, when the catalogue changes (§4.6). */
  clear(): void;
}

export function createSeenCards(): SeenCards {
  const seen = new Map<string, ChoiceCard>();
  const add = (card: ChoiceCard): void => {
    if (!seen.has(card.id)) seen.set(card.id, card);
  };
  return {
    arrange(cards) {
      const known = cards.flatMap(({ id }) => seen.get(id) ?? []).sort(byId);
      const fresh = cards.filter(({ id }) => !seen.has(id)).sort(byId);
      for (const card of fresh) add(card);
      return known.length > 0 && fresh.length > 0 ? [...known, BREAKPOINT, ...fresh] : [...known, ...fresh];
    },
    add,
    clear: () => seen.clear(),
  };
}
