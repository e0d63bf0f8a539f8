import { callerOf } from '../call/request.ts';
import { sessionKey } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Call } from './call.ts';
import { type Denied, denial } from './decision.ts';

/** Whose execution it is. A caller chooses the names of its sessions, but not `caller` (see `callerOf`). */
export interface SlotOwner {
  readonly caller: string;
  readonly session: string;
}

/**
 * Limits concurrent executions, in all, of each caller and of each session. Further ones wait, those of a session in their order.
 * A free slot goes to the waiting caller with the fewest executions, and there to the session with the fewest. So neither a flood
 * of one session nor one of many session names holds up another caller.
 */
export interface Slots {
  /**
   * Waits for a slot of the owner and returns its release function. Throws RATE_LIMITED if too many wait, and the signal's
   * reason if it aborts first.
   */
  take(owner: SlotOwner, signal: AbortSignal): Promise<() => void>;
  /** Number of executions that wait for a slot. */
  waiting(): number;
  /** Why no more of the owner may wait; null if they may. The first few of a caller always may. */
  full(owner: SlotOwner): Denied | null;
}

type SlotLimits = Pick<Config['server'], 'max_concurrent_calls' | 'max_caller_calls' | 'max_session_calls'>;

/** The executions of a session. */
interface Line {
  running: number;
  /** They begin when called. */
  readonly queue: (() => void)[];
}

/** The executions of a caller. */
interface Caller {
  running: number;
  /** By session. The one that came or was served last is at the end. */
  readonly lines: Map<string, Line>;
}

/** Executions that wait for each slot. One session or caller cannot fill the whole queue, because it has fewer slots. */
const WAITING_PER_SLOT = 16;
/** Executions that may wait, however few the slots are: a person answers the questions of 256 calls at once. */
const [SESSION_MIN, CALLER_MIN, MIN_IN_ALL] = [256, 384, 512];
/** Executions of a caller that may wait even if others fill the queue. */
const CALLER_SHARE = 16;
/** Milliseconds after which a refused caller may try again. */
const [RETRY_MIN_MS, RETRY_MAX_MS] = [100, 60_000];
/** Weight of the newest execution in their mean time. */
const NEWEST = 0.1;

export function createSlots(server: SlotLimits, clock: Pick<Clock, 'monotonic'>): Slots {
  /** The one that came or was served last is at the end. */
  const callers = new Map<string, Caller>();
  let running = 0;
  let meanMs = 0;

  const waiting = (): number => [...callers.values()].reduce((sum, caller) => sum + waitingOf(caller), 0);
  const full = (owner: SlotOwner): Denied | null => {
    const caller = callers.get(owner.caller);
    const ofCaller = caller === undefined ? 0 : waitingOf(caller);
    const queues = [
      {
        whose: 'of this session',
        length: caller?.lines.get(owner.session)?.queue.length ?? 0,
        slots: server.max_session_calls,
        min: SESSION_MIN,
      },
      {
        whose: 'of this client in this project',
        length: ofCaller,
        slots: server.max_caller_calls,
        min: CALLER_MIN,
      },
      {
        whose: 'in all',
        length: ofCaller < CALLER_SHARE ? 0 : waiting(),
        slots: server.max_concurrent_calls,
        min: MIN_IN_ALL,
      },
    ];
    const limitOf = ({ slots, min }: (typeof queues)[number]): number => Math.max(min, slots * WAITING_PER_SLOT);
    const one = queues.find((queue) => queue.length >= limitOf(queue));
    if (one === undefined) return null;
    const waitMs = Math.ceil((one.length / one.slots) * meanMs);
    return {
      verdict: 'deny',
      code: 'RATE_LIMITED',
      limit: limitOf(one),
      retryAfterMs: Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, waitMs)),
      reason: `${one.length} calls ${one.whose} are waiting already`,
      remedy: 'Call again after retry_after_ms.',
    };
  };
  const dueIn = ({ lines }: Caller) =>
    [...lines].filter(([, line]) => line.queue.length > 0 && line.running < server.max_session_calls);
  const serve = (): void => {
    while (running < server.max_concurrent_calls) {
      const due = [...callers].filter(([, one]) => one.running < server.max_caller_calls && dueIn(one).length > 0);
      const next = fewestRunning(due);
      const line = next === null ? null : fewestRunning(dueIn(next[1]));
      if (next === null || line === null) return;
      moveToEnd(callers, next);
      moveToEnd(next[1].lines, line);
      running += 1;
      next[1].running += 1;
      line[1].running += 1;
      line[1].queue.shift()?.();
    }
  };
  const lineOf = ({ caller: name, session }: SlotOwner) => {
    const caller = callers.get(name) ?? { running: 0, lines: new Map<string, Line>() };
    callers.set(name, caller);
    const line = caller.lines.get(session) ?? { running: 0, queue: [] };
    caller.lines.set(session, line);
    const forget = (): void => {
      if (line.running === 0 && line.queue.length === 0 && caller.lines.get(session) === line)
        caller.lines.delete(session);
      if (caller.lines.size === 0 && callers.get(name) === caller) callers.delete(name);
    };
    return { caller, line, forget };
  };
  return {
    async take(owner, signal) {
      if (signal.aborted) throw reasonOf(signal);
      const fault = full(owner);
      if (fault !== null) throw denial(fault, {});
      const { caller, line, forget } = lineOf(owner);
      const turn = waitIn(line.queue, signal);
      serve();
      await turn.catch((thrown: unknown) => {
        forget();
        throw thrown;
      });
      const began = clock.monotonic();
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        meanMs += NEWEST * (clock.monotonic() - began - meanMs);
        running -= 1;
        caller.running -= 1;
        line.running -= 1;
        serve();
        forget();
      };
    },
    waiting,
    full,
  };
}

export function slotOwnerOf({ request, session }: Pick<Call, 'request' | 'session'>): SlotOwner {
  return { caller: callerOf(request.principal, session.project), session: sessionKey(session) };
}

function waitingOf({ lines }: Caller): number {
  return [...lines.values()].reduce((sum, { queue }) => sum + queue.length, 0);
}

/** The first of those with the fewest executions; null without any. */
function fewestRunning<One extends { running: number }>(due: readonly [string, One][]): [string, One] | null {
  const fewest = Math.min(...due.map(([, { running }]) => running));
  return due.find(([, { running }]) => running === fewest) ?? null;
}

function moveToEnd<One>(all: Map<string, One>, [name, one]: [string, One]): void {
  all.delete(name);
  all.set(name, one);
}

function waitIn(queue: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const mine = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      queue.splice(queue.indexOf(mine), 1);
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', leave, { once: true });
    queue.push(mine);
  });
}

export function reasonOf(signal: AbortSignal): ContextdError {
  return signal.reason instanceof ContextdError
    ? signal.reason
    : new ContextdError('CANCELLED', 'the call was cancelled');
}
