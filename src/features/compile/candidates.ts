import { hasForm, type SessionEvent } from '../events/event.ts';
import type { Item } from './item.ts';
import type { PhaseRules } from './phase.ts';

/** Stage 1: the events whose kind counts in the phase. Calls that did not run are no candidates: nothing came of them. */
export function candidates(events: readonly SessionEvent[], { weightOf }: Pick<PhaseRules, 'weightOf'>): Item[] {
  return events
    .filter((event) => weightOf(event.kind) > 0 && !isDryRun(event))
    .map((event) => ({ event, shown: event.text, isDependency: false, times: 1, score: 0 }));
}

function isDryRun(event: SessionEvent): boolean {
  if (!hasForm(event, 'call')) return false;
  return !event.facts.hasRun && event.facts.errorCode === null && event.parent === null;
}
