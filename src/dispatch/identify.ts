import type { CallRequest } from '../call/request.ts';
import type { Clock } from '../core/clock.ts';
import type { Call } from './call.ts';

/** Session ids come from other programs' environments. An id of another form is ignored. */
const SESSION_ID_PATTERN = /^[\w.:@-]{1,128}$/;

/** Step 1: finds out who calls and in which session. Never fails, because even a malformed call must be recorded. */
export function identify(request: CallRequest, clock: Clock): Call {
  const receivedAt = clock.now();
  return {
    request,
    requestId: request.requestId,
    session: { project: request.projectRoot, session: sessionIdFor(request.sessionHint, receivedAt), branch: null },
    receivedAt,
    startedAt: clock.monotonic(),
  };
}

/** Returns the session id for a caller's hint, or the session of the day. `nowMs` is in milliseconds since the epoch. */
export function sessionIdFor(hint: string, nowMs: number): string {
  return SESSION_ID_PATTERN.test(hint) ? hint : sessionOfTheDay(nowMs);
}

/** The session of callers that name none: two such agents in one project share it (design §4). The day is in UTC. */
function sessionOfTheDay(nowMs: number): string {
  return `day-${new Date(nowMs).toISOString().slice(0, 10)}`;
}
