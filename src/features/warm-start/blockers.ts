import { SESSION_EFFECTS } from '../../call/effects.ts';
import type { CallEventFacts, SessionEvent } from '../events/event.ts';

/** A call that did work, failed, and did not succeed since. */
export interface Blocker {
  /** Its last failure. */
  readonly event: SessionEvent & { readonly kind: 'call'; readonly facts: CallEventFacts };
  /** Failures in a row. */
  readonly times: number;
}

/** Calls that were not carried out, or only because of their form: they say nothing about the work. */
const NO_FAILURES: ReadonlySet<string> = new Set([
  'CANCELLED',
  'INTERRUPTED',
  'RATE_LIMITED',
  'ARGS_INVALID',
  'CURSOR_INVALID',
  'EXPIRED',
  'CONFLICT',
]);
/** Why a call that was not carried out still stands in the way. Any other reason is one of its form, such as an unknown branch. */
const REFUSALS: ReadonlySet<string> = new Set(['PERMISSION_DENIED', 'SANDBOX_UNAVAILABLE', 'STORAGE_FULL']);
/** Commands whose status 1 is an answer. */
const QUESTIONS = /^(?:e?grep|rg|git grep|git diff|diff|cmp|test|\[|which|command -v|pgrep)(?:\s|$)/;

/** The newest first. `events`: in the order in which they happened. */
export function blockersIn(events: readonly SessionEvent[]): Blocker[] {
  const failed = new Map<string, Blocker>();
  for (const event of events) {
    if (event.kind !== 'call' || event.facts.sameness === '') continue;
    const { facts } = event;
    if (!SESSION_EFFECTS[facts.effect].isWork || (!facts.hasRun && !REFUSALS.has(facts.errorCode ?? ''))) continue;
    if (NO_FAILURES.has(facts.errorCode ?? '') || isAnswer(facts)) continue;
    const times = (failed.get(facts.sameness)?.times ?? 0) + 1;
    failed.delete(facts.sameness);
    if (isFailure(facts)) failed.set(facts.sameness, { event: { ...event, kind: 'call', facts }, times });
  }
  return [...failed.values()].reverse();
}

function isFailure({ errorCode, exitCode }: CallEventFacts): boolean {
  return errorCode !== null || (exitCode !== null && exitCode !== 0);
}

function isAnswer({ errorCode, exitCode, subject }: CallEventFacts): boolean {
  return errorCode === null && exitCode === 1 && QUESTIONS.test(subject);
}
