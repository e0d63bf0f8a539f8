import type { CallRequest } from '../call/request.ts';
import { sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Call } from './call.ts';

/** Session ids come from other programs' environments: anything else is taken as absent. */
const SESSION_ID_PATTERN = /^[\w.:@-]{1,128}$/;

/** Step 1: who calls, in which session. Fails never: a call that cannot be identified is still recorded. */
export function identify(request: CallRequest, clock: Clock): Call {
  const receivedAt = clock.now();
  const sessionId = sessionIdFor(request.sessionHint, receivedAt);
  return {
    request,
    requestId: request.requestId,
    sessionId,
    sessionKey: sessionKey({ project: request.projectRoot, session: sessionId }),
    receivedAt,
    startedAt: clock.monotonic(),
  };
}

/** The session that a caller means by what it names. `nowMs`: since the epoch. */
export function sessionIdFor(hint: string, nowMs: number): string {
  return SESSION_ID_PATTERN.test(hint) ? hint : sessionOfTheDay(nowMs);
}

/** Two agents that name no session share this one in a project (design §4). The day is UTC. */
function sessionOfTheDay(nowMs: number): string {
  return `day-${new Date(nowMs).toISOString().slice(0, 10)}`;
}
