import type { CallAnswer, CallRequest, Dispatch, Refuse } from '../../call/request.ts';
import { type Clock, systemClock, systemTimer, type Timer } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import type { Drained, StopCause } from '../../core/lifecycle.ts';
import type { CallFigures } from './call-figures.ts';
import { LoopDelay } from './loop-delay.ts';

/** A call under way. */
export interface RunningCall {
  request: CallRequest;
  /** Milliseconds since the epoch. */
  startedMs: number;
}

/** Counts the calls that come and go, and admits none once the daemon is stopping. */
export interface CallGate {
  dispatch: Dispatch;
  /** As `dispatch`, for a call that the daemon before began. */
  resume(request: CallRequest, startedMs: number): Promise<CallAnswer>;
  active(): number;
  /** True once no further call is admitted. */
  readonly isStopping: boolean;
  answered(): number;
  running(): readonly RunningCall[];
  /** A running call is known under another id from now on. */
  rename(requestId: string, to: string): void;
  /** Ends a call, whose answer says why. Does nothing if it does not run. */
  cancel(requestId: string, why: ContextdError): void;
  /**
   * Admits no further call and waits at most `graceMs` milliseconds for the running ones. Calls that take longer are
   * ended, and their answers say why.
   */
  drain(graceMs: number, cause: StopCause): Promise<Drained>;
  /** The result of `drain`, for anyone who waits for it. */
  readonly drained: Promise<Drained>;
  /** Resolves when none of these calls runs any more. */
  ended(requestIds: readonly string[]): Promise<void>;
  /** Lets further calls wait until `goOn` or `leave` is called. */
  hold(): Held;
}

/** Calls that wait while the next daemon starts. */
export interface Held {
  /**
   * Takes the running calls back, except those that have begun to run or were asked for again, whose answers say what became of an
   * earlier run: each ends with a record, and its caller waits as the caller of a further call.
   */
  withdraw(hasBegun: (requestId: string) => boolean): void;
  /** The calls that wait are dispatched here. */
  goOn(): void;
  /** The callers of the calls that wait learn that nothing ran, and send them to the next daemon. */
  leave(): void;
}

/** Milliseconds that ended calls get to answer: the tool's own grace, and the time its answer takes to get out. */
const ENDING_MS = 5_000;

export interface CallGateDeps {
  readonly refuse: Refuse;
  /** Called before a call that was taken back runs again under another id: from then on its first id must not run. */
  retire(request: CallRequest): Promise<void>;
  readonly callFigures: Pick<CallFigures, 'loopWasLate'>;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

/**
 * `refuse` records a call that comes while the daemon is stopping. `dispatch` then throws DAEMON_UNAVAILABLE, not an
 * answer: the caller knows from it that nothing ran, which no tool can claim, and asks the next daemon.
 */
export function createCallGate(inner: Dispatch, deps: CallGateDeps): CallGate {
  const { refuse, retire, callFigures, clock = systemClock, timer = systemTimer } = deps;
  const loopDelay = new LoopDelay({ callFigures, clock, timer });
  const running = new Map<AbortController, RunningCall & { answer: Promise<CallAnswer> }>();
  const withdrawn = new WeakSet<AbortController>();
  const holds = new Set<Promise<void>>();
  const { promise: drained, resolve: settle } = Promise.withResolvers<Drained>();
  let answered = 0;
  let stopping = false;
  const allEndWithin = (ms: number): Promise<boolean> => {
    const answers = Promise.allSettled([...running.values()].map(({ answer }) => answer));
    return within(
      ms,
      answers.then(() => true),
      () => false,
    );
  };
  const dispatch = async (request: CallRequest): Promise<CallAnswer> => {
    while (holds.size > 0) await Promise.all(holds);
    if (stopping) {
      // The record of a call that is asked for is that of the call itself.
      if (request.isAskedAgain !== true) await refuse(request, daemonStops());
      throw daemonStops();
    }
    return run(request, clock.now());
  };
  const run = async (request: CallRequest, startedMs: number): Promise<CallAnswer> => {
    const ending = new AbortController();
    const answer = await follow(request, startedMs, ending);
    if (!withdrawn.has(ending)) return answer;
    while (holds.size > 0) await Promise.all(holds);
    await retire(request);
    // The record of the end is under the id of before.
    return dispatch({ ...request, requestId: newRequestId(clock.now()) });
  };
  const follow = async (request: CallRequest, startedMs: number, ending: AbortController): Promise<CallAnswer> => {
    const onAbort = (): void => ending.abort(request.signal.reason);
    request.signal.addEventListener('abort', onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    const answer = inner({ ...request, signal: ending.signal });
    running.set(ending, { request, startedMs, answer });
    loopDelay.measure();
    try {
      return await answer;
    } finally {
      request.signal.removeEventListener('abort', onAbort);
      running.delete(ending);
      if (running.size === 0) loopDelay.rest();
      answered += 1;
    }
  };
  return {
    resume: run,
    dispatch,
    active: () => running.size,
    get isStopping() {
      return stopping;
    },
    answered: () => answered,
    running: () => [...running.values()],
    rename(requestId, to) {
      for (const call of running.values())
        if (call.request.requestId === requestId) call.request = { ...call.request, requestId: to };
    },
    cancel(requestId, why) {
      for (const [ending, { request }] of running) if (request.requestId === requestId) ending.abort(why);
    },
    drained,
    async ended(requestIds) {
      const some = [...running.values()].filter(({ request }) => requestIds.includes(request.requestId));
      await Promise.allSettled(some.map(({ answer }) => answer));
    },
    async drain(graceMs, cause) {
      stopping = true;
      const waited = running.size;
      let ended = 0;
      if (!(await allEndWithin(graceMs))) {
        ended = running.size;
        for (const [ending, { request }] of running) ending.abort(interrupted(request.tool, cause));
        await allEndWithin(ENDING_MS);
      }
      settle({ waited, ended });
      return drained;
    },
    hold() {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      holds.add(promise);
      promise.catch(() => {});
      return {
        withdraw(hasBegun) {
          for (const [ending, { request }] of running) {
            if (request.isAskedAgain === true || hasBegun(request.requestId) || withdrawn.has(ending)) continue;
            withdrawn.add(ending);
            ending.abort(daemonStops());
          }
        },
        goOn() {
          holds.delete(promise);
          resolve();
        },
        leave: () => reject(daemonStops()),
      };
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
    remedy: 'Check what the call has done before calling again. The next call starts contextd if it is not running.',
    details: { stopped_by: cause },
  });
}

function daemonStops(): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', 'contextd is stopping and takes no more calls', {
    remedy: 'Call again: the next call starts it.',
    retryAfterMs: 500,
  });
}
