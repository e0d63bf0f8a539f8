import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { settles } from '../events/blockers.ts';
import type { CallEventFacts, NewEvent } from '../events/event.ts';
import { mainCommand } from '../events/shell-command.ts';
import type { MemoryOutcome } from './item.ts';
import { WEAK } from './learn.ts';
import type { Memories } from './memories.ts';
import { sessionTag } from './memory-services.ts';
import type { Retrievals } from './retrievals.ts';

/** A sign in the record of how work went, in a few words. */
interface Sign {
  readonly outcome: MemoryOutcome;
  readonly note: string;
}

export interface WeakOutcomesDeps {
  memories: Pick<Memories, 'giveFeedback'>;
  retrievals: Pick<Retrievals, 'settleWeakly' | 'readsOf'>;
  logger: Logger;
}

/** Failed tests that are remembered, of all sessions together. */
const RED_MAX = 200;

/**
 * Outcomes that nobody reports: tests that pass again, branches that are merged or discarded, undo, and reverts. They count less
 * than a report, for the memories that the session has read, and for what it has found.
 */
export class WeakOutcomes {
  readonly #deps: WeakOutcomesDeps;
  /** Failed tests without a success since, the oldest first. */
  #red: { readonly tag: string; readonly facts: CallEventFacts }[] = [];
  #recording: Promise<void> = Promise.resolve();

  constructor(deps: WeakOutcomesDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {}

  /** Waits until everything noticed so far is recorded. */
  stop(): Promise<void> {
    return this.#recording;
  }

  /** Returns at once. */
  observe(event: NewEvent): void {
    const sign = this.#signOf(event);
    if (sign !== null) this.#note(event.session, sign);
  }

  /** The files of a branch were merged into what is around it, or given up. */
  branchEnded(session: Pick<SessionRef, 'project' | 'session'>, end: 'merge' | 'discard'): void {
    const sign: Sign =
      end === 'merge'
        ? { outcome: 'success', note: 'a branch was merged' }
        : { outcome: 'failure', note: 'a branch was discarded' };
    this.#note({ ...session, branch: null }, sign);
  }

  #signOf(event: NewEvent): Sign | null {
    if (event.kind === 'undo')
      return event.facts.action === 'undone' ? { outcome: 'failure', note: 'changes were undone' } : null;
    if (event.kind !== 'call') return null;
    const { facts } = event;
    if (isRevert(facts)) return { outcome: 'failure', note: 'a commit was reverted' };
    if (facts.reported === null) return null;
    const tag = sessionTag(event.session);
    if (facts.reported.failed > 0) {
      this.#red = [...this.#red, { tag, facts }].slice(-RED_MAX);
      return null;
    }
    const fixed = this.#red.filter((one) => one.tag === tag && settles(facts, one.facts));
    this.#red = this.#red.filter((one) => !fixed.includes(one));
    return fixed.length === 0 ? null : { outcome: 'success', note: 'tests that failed passed' };
  }

  #note(session: SessionRef, sign: Sign): void {
    this.#recording = this.#recording.then(async () => {
      try {
        await this.#record(session, sign);
      } catch (thrown) {
        this.#deps.logger.warn('memory.outcome_not_recorded', { message: ContextdError.from(thrown).message });
      }
    });
  }

  async #record(session: SessionRef, { outcome, note }: Sign): Promise<void> {
    const { memories, retrievals } = this.#deps;
    const tag = sessionTag(session);
    await retrievals.settleWeakly(tag, outcome);
    const by = { session: tag, requestId: '', weight: WEAK };
    for (const id of await retrievals.readsOf(tag))
      await memories.giveFeedback(session.project, { id, outcome, note }, by);
  }
}

/** Whether a command took back a commit. */
function isRevert({ effect, subject, exitCode }: CallEventFacts): boolean {
  const command = effect === 'command' && exitCode === 0 ? mainCommand(subject) : null;
  return command?.program === 'git' && command.operands[0] === 'revert';
}
