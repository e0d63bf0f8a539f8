import { SESSION_EFFECTS } from '../../call/effects.ts';
import { type CallEventFacts, isFailure, type SessionEvent } from './event.ts';
import { isOfForm } from './failed-call.ts';
import { answersWith1 } from './programs.ts';
import { corrects, covers, hasStatusOfMain, isUsageError, mainCommand, type SimpleCommand } from './shell-command.ts';

type CallEvent = SessionEvent & { readonly kind: 'call'; readonly facts: CallEventFacts };

/** A call that did work, failed, and did not succeed since. */
export interface Blocker {
  /** Its last failure. */
  readonly event: CallEvent;
  /** Failures in a row, of this call and of others with the same goal. */
  readonly times: number;
}

/** Why a call that was not carried out still stands in the way. Any other reason is one of its form, such as an unknown branch. */
const REFUSALS: ReadonlySet<string> = new Set(['PERMISSION_DENIED', 'SANDBOX_UNAVAILABLE', 'STORAGE_FULL']);
/** Calls of work after which a wrongly written command is forgotten. */
const USAGE_AGE = 20;

/** Failures of the work, the newest first, then commands that were written wrongly. `events`: in the order in which they happened. */
export function blockersIn(events: readonly SessionEvent[]): Blocker[] {
  const calls = events.flatMap((event) => (isTelling(event) ? [event] : []));
  let open: Blocker[] = [];
  for (const event of calls) {
    const isOver = isFailure(event.facts) ? isSameGoal : settles;
    const settled = open.filter((blocker) => isOver(event.facts, blocker.event.facts));
    open = open.filter((blocker) => !settled.includes(blocker));
    const times = 1 + settled.reduce((sum, blocker) => sum + blocker.times, 0);
    if (isFailure(event.facts)) open.push({ event, times });
  }
  const recent = new Set(calls.slice(-USAGE_AGE));
  const isMistake = ({ event }: Blocker) => isMistaken(event.facts);
  const mistakes = open.filter((blocker) => isMistake(blocker) && recent.has(blocker.event));
  return [...open.filter((blocker) => !isMistake(blocker)).reverse(), ...mistakes.reverse()];
}

/** Whether the call says something about the work. */
function isTelling(event: SessionEvent): event is CallEvent {
  if (event.kind !== 'call' || event.facts.sameness === '') return false;
  const { effect, hasRun, errorCode } = event.facts;
  if (!SESSION_EFFECTS[effect].isWork || (!hasRun && !REFUSALS.has(errorCode ?? ''))) return false;
  return !isOfForm(errorCode) && !isAnswer(event.facts);
}

function isAnswer({ errorCode, exitCode, subject }: CallEventFacts): boolean {
  return errorCode === null && exitCode === 1 && answersWith1(subject);
}

/** Whether a success is one of the work, and not only of what the line ended with. */
function isProof({ effect, subject, reported }: CallEventFacts): boolean {
  return effect !== 'command' || reported !== null || hasStatusOfMain(subject);
}

function isMistaken({ errorCode, errorLine }: CallEventFacts): boolean {
  return errorCode === null && isUsageError(errorLine);
}

/** Whether another failure is one of the same work: only the last is worth a line. */
function isSameGoal(facts: CallEventFacts, before: CallEventFacts): boolean {
  if (facts.sameness === before.sameness) return true;
  const [one, other] = [commandOf(facts), commandOf(before)];
  return one !== null && other !== null && covers(one, other) && covers(other, one);
}

/** Whether a success shows that what failed works now, or that a wrongly written command was corrected. */
export function settles(facts: CallEventFacts, failed: CallEventFacts): boolean {
  if (facts.sameness === failed.sameness) return true;
  if (!isProof(facts)) return false;
  const [success, failure] = [commandOf(facts), commandOf(failed)];
  if (success === null || failure === null) return false;
  return covers(success, failure) || (isMistaken(failed) && corrects(success, failure));
}

/** What a call ran; null for a tool that runs no commands. */
function commandOf({ effect, subject }: CallEventFacts): SimpleCommand | null {
  return effect === 'command' ? mainCommand(subject) : null;
}
