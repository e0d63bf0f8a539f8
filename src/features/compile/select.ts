import type { EventKind } from '../events/event-kinds.ts';
import type { Dropped, DropReason, Item, Sieved } from './item.ts';
import type { PhaseRules } from './phase.ts';
import { byScore } from './score.ts';

/** No line of an event has fewer. */
const LINE_MIN_TOKENS = 5;

/**
 * Stage 7: the best events that fit, each together with those that it depends on. `costOf`: tokens of the line that shows
 * an event. Returns them in the order of the log.
 */
export function selectAndPack(
  items: readonly Item[],
  { limitOf }: Pick<PhaseRules, 'limitOf'>,
  budgetTokens: number,
  costOf: (item: Item) => number,
): Sieved {
  const bySeq = new Map(items.map((item) => [item.event.seq, item]));
  const packed = new Set<Item>();
  const counts = new Map<EventKind, number>();
  const reasons = new Map<Item, DropReason>();
  let left = budgetTokens;
  for (const item of items.toSorted(byScore)) {
    if (packed.has(item) || item.isDependency) continue;
    const unit = withAncestors(item, bySeq).filter((one) => !packed.has(one));
    const { kind } = item.event;
    if ((counts.get(kind) ?? 0) >= limitOf(kind)) {
      reasons.set(item, 'kind_limit');
      continue;
    }
    // Counting the tokens of a thousand lines takes longer than everything else.
    const cost = left < LINE_MIN_TOKENS ? Number.POSITIVE_INFINITY : unit.reduce((sum, one) => sum + costOf(one), 0);
    if (cost > left) reasons.set(item, 'budget');
    else {
      left -= cost;
      for (const one of unit) packed.add(one);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  const dropped = items
    .filter((item) => !packed.has(item))
    .map(
      (item): Dropped => ({
        seq: item.event.seq,
        reason: reasons.get(item) ?? (item.isDependency ? 'not_needed' : 'budget'),
      }),
    );
  return { items: items.filter((item) => packed.has(item)), dropped };
}

/** What it depends on first. */
function withAncestors(item: Item, bySeq: ReadonlyMap<number, Item>): Item[] {
  const chain = [item];
  for (let { parent } = item.event; parent !== null; ) {
    const next = bySeq.get(parent);
    if (next === undefined) break;
    chain.unshift(next);
    parent = next.event.parent;
  }
  return chain;
}
