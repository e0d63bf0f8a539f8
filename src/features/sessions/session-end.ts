import type { SessionRef } from '../../call/session.ts';
import type { Logger } from '../../core/log.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { Branches } from '../branches/branches.ts';
import type { Chore } from '../shared/chores.ts';

/** Something that keeps state for a session. */
export interface SessionStateHolder {
  /** For the log. */
  name: string;
  /** Stops or removes what it keeps for the session. May be called for a session for which it keeps nothing. */
  endSession(session: SessionRef): Promise<void>;
}

/** Ends sessions: by the client's session-end hook, with their project, and after a day without a call. */
export interface SessionEnd {
  /** False if there was no such session. */
  end(session: SessionRef): Promise<boolean>;
  endAllOf(project: string): Promise<void>;
  endIdle(): Promise<void>;
}

export interface SessionEndDeps {
  liveSessions: LiveSessions;
  /** In this order: jobs first, because a job uses what the others remove. */
  holders: readonly SessionStateHolder[];
  logger: Logger;
}

export function createSessionEnd({ liveSessions, holders, logger }: SessionEndDeps): SessionEnd {
  const end = async (session: SessionRef): Promise<boolean> => {
    for (const holder of holders) {
      try {
        await holder.endSession(session);
      } catch (cause) {
        // One failure must not keep the others from ending.
        logger.error('session.end_failed', { holder: holder.name }, cause);
      }
    }
    return liveSessions.remove(session);
  };
  const endAll = async (sessions: readonly SessionRef[]): Promise<void> => {
    for (const session of sessions) await end(session);
  };
  return {
    end,
    endAllOf: (project) => endAll(liveSessions.list(project)),
    endIdle: () => endAll(liveSessions.idle()),
  };
}

const END_OVERDUE_EVERY_MS = 60 * 1000;

/** Closes the branches that did not return in time. */
export function branchChore(branches: Pick<Branches, 'endOverdue'>): Chore {
  return { name: 'close overdue branches', everyMs: END_OVERDUE_EVERY_MS, run: () => branches.endOverdue() };
}

const END_IDLE_EVERY_MS = 10 * 60 * 1000;

/** Ends sessions without a call for a day. */
export function sessionChore(sessionEnd: Pick<SessionEnd, 'endIdle'>): Chore {
  return { name: 'end idle sessions', everyMs: END_IDLE_EVERY_MS, run: () => sessionEnd.endIdle() };
}
