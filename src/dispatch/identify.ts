import type { CallRequest } from '../call/request.ts';
import type { Clock } from '../core/clock.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { Call } from './call.ts';

export interface IdentifyDeps {
  liveSessions: Pick<LiveSessions, 'idFor'>;
  clock: Clock;
}

/** Step 1: finds out who calls and in which session. Never fails, because even a malformed call must be recorded. */
export function identify(request: CallRequest, { liveSessions, clock }: IdentifyDeps): Call {
  const { requestId, projectRoot: project, sessionHint } = request;
  return {
    request,
    requestId,
    session: { project, session: liveSessions.idFor(project, sessionHint), branch: null },
    receivedAt: clock.now(),
    startedAt: clock.monotonic(),
    artifacts: new Map(),
  };
}
