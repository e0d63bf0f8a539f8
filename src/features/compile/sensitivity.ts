import { SENSITIVITIES, type Sensitivity } from '../events/event.ts';
import type { Dropped, Item, Sieved } from './item.ts';

export interface SensitivityPolicy {
  /** Events of this level or above are not shown as they are. */
  readonly floor: Sensitivity;
  readonly action: 'drop' | 'redact';
}

/** Stage 3: leaves events at or above the floor out, or their text. */
export function filterSensitivity(items: readonly Item[], { floor, action }: SensitivityPolicy): Sieved {
  const isShown = ({ event }: Item): boolean => SENSITIVITIES.indexOf(event.sensitivity) < SENSITIVITIES.indexOf(floor);
  if (action === 'redact') {
    return { items: items.map((item) => (isShown(item) ? item : redacted(item))), dropped: [] };
  }
  const dropped = items
    .filter((item) => !isShown(item))
    .map(({ event }): Dropped => ({ seq: event.seq, reason: 'sensitivity' }));
  return { items: items.filter(isShown), dropped };
}

/** Facts that a caller or a command chose go too. */
function redacted(item: Item): Item {
  const { event } = item;
  const shown = `REDACTED: ${event.sensitivity}`;
  if (event.kind !== 'call' && event.kind !== 'memory') return { ...item, shown };
  const facts = { ...event.facts, subject: shown, filesWritten: [], quarantined: [] };
  return { ...item, shown, event: { ...event, facts } };
}
