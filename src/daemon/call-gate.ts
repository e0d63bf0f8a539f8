import type { CallAnswer, Dispatch, Refuse } from '../call/request.ts';
import { ContextdError } from '../core/errors.ts';
import type { StopCause } from './stop-request.ts';

/** Counts calls on their way in and out, and lets none in once the daemon stops. */
export interface CallGate {
  dispatch: Dispatch;
  active(): number;
  answered(): number;
  /**
   * Lets no further call in and waits for those under way, at most `graceMs` milliseconds. Calls that take longer are
   * ended: their answers say why.
   */
  drain(graceMs: number, cause: StopCause): Promise<Drained>;
  /** What `drain` came to, for everyone who waits for it. */
  readonly drained: Promise<Drained>;
}

/** How many calls were under way at the stop, and how many of them were ended. */
export interface Drained {
  waited: number;
  ended: number;
}

/** Milliseconds that calls get to answer once they were ended: a tool's own grace, and the way of its answer. */
const ENDING_MS = 5_000;

/** `refuse` records and answers a call that comes while the daemon stops. */
export function createCallGate(inner: Dispatch, refuse: Refuse): CallGate {
  const under = new Map<AbortController, { tool: string; answer: Promise<CallAnswer> }>();
  const { promise: drained, resolve: settle } = Promise.withResolvers<Drained>();
  let answered = 0;
  let stopping = false;
  const allEndWithin = async (ms: number): Promise<boolean> => {
    if (under.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const done = Promise.allSettled([...under.values()].map(({ answer }) => answer)).then(() => true);
    const ended = await Promise.race([done, late]);
    clearTimeout(timer);
    return ended;
  };
  return {
    async dispatch(request) {
      if (stopping) return refuse(request, daemonStops());
      const ending = new AbortController();
      const onAbort = (): void => ending.abort(request.signal.reason);
      request.signal.addEventListener('abort', onAbort, { once: true });
      if (request.signal.aborted) onAbort();
      const answer = inner({ ...request, signal: ending.signal });
      under.set(ending, { tool: request.tool, answer });
      try {
        return await answer;
      } finally {
        request.signal.removeEventListener('abort', onAbort);
        under.delete(ending);
        answered += 1;
      }
    },
    active: () => under.size,
    answered: () => answered,
    drained,
    async drain(graceMs, cause) {
      stopping = true;
      const waited = under.size;
      let ended = 0;
      if (!(await allEndWithin(graceMs))) {
        ended = under.size;
        for (const [ending, { tool }] of under) ending.abort(interrupted(tool, cause));
        await allEndWithin(ENDING_MS);
      }
      settle({ waited, ended });
      return drained;
    },
  };
}

const CAUSES: Readonly<Record<StopCause, string>> = {
  stop: 'was stopped by a person (`ctxd server stop`)',
  restart: 'was restarted by a person (`ctxd server restart`)',
  signal: 'was stopped by a signal',
  failure: 'had to stop because its state database failed',
};

function interrupted(tool: string, cause: StopCause): ContextdError {
  return new ContextdError('INTERRUPTED', `contextd ${CAUSES[cause]} while ${tool} ran, and ended the call`, {
    remedy: 'Look at what the call has done before calling again: the next call starts contextd if it is not running.',
    details: { stopped_by: cause },
  });
}

function daemonStops(): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', 'contextd is stopping and takes no more calls', {
    remedy: 'Call again: the next call starts it.',
    retryAfterMs: 500,
  });
}
