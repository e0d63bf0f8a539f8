import type { SessionEvent } from '../events/event.ts';
import type { Item } from './item.ts';

/** Stage 2: what a candidate depends on comes along, whatever its kind, and so on up to the first. In the order of the log. */
export function dependencyClosure(items: readonly Item[], events: readonly SessionEvent[]): Item[] {
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  const closed = new Map(items.map((item) => [item.event.seq, item]));
  const add = (seq: number | null): void => {
    const event = seq === null ? undefined : bySeq.get(seq);
    if (event === undefined || closed.has(event.seq)) return;
    closed.set(event.seq, { event, shown: event.text, isDependency: true, times: 1, score: 0 });
    add(event.parent);
  };
  for (const { event } of items) add(event.parent);
  return [...closed.values()].sort((a, b) => a.event.seq - b.event.seq);
}
