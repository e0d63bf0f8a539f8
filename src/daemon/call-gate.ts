import { ContextdError } from '../core/errors.ts';
import type { CallAnswer, Dispatch, Refuse } from '../server/door.ts';

/** Counts calls on their way in and out, and lets none in once the daemon stops. */
export interface CallGate {
  dispatch: Dispatch;
  active(): number;
  answered(): number;
  /** Lets no further call in and waits for those under way, at most `graceMs` milliseconds. True when all ended. */
  drain(graceMs: number): Promise<boolean>;
}

/** `refuse` records and answers a call that comes while the daemon stops. */
export function createCallGate(inner: Dispatch, refuse: Refuse): CallGate {
  const under = new Set<Promise<CallAnswer>>();
  let answered = 0;
  let stopping = false;
  return {
    async dispatch(request) {
      if (stopping) return refuse(request, daemonStops());
      const answer = inner(request);
      under.add(answer);
      try {
        return await answer;
      } finally {
        under.delete(answer);
        answered += 1;
      }
    },
    active: () => under.size,
    answered: () => answered,
    async drain(graceMs) {
      stopping = true;
      if (under.size === 0) return true;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), graceMs);
      });
      const done = Promise.allSettled([...under]).then(() => true);
      const ended = await Promise.race([done, late]);
      clearTimeout(timer);
      return ended;
    },
  };
}

function daemonStops(): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', 'contextd is stopping and takes no more calls', {
    remedy: 'Call again: the next call starts it.',
    retryAfterMs: 500,
  });
}
