import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { type Denied, denial } from './decision.ts';

/**
 * Limits concurrent executions, in all and of each session. Further ones wait, those of a session in their order. A free
 * slot goes to the waiting session with the fewest executions, so that a flood of one session does not hold up another.
 */
export interface Slots {
  /**
   * Waits for a slot of the session and returns its release function. Throws RATE_LIMITED if too many wait, and the signal's
   * reason if it aborts first.
   */
  take(session: string, signal: AbortSignal): Promise<() => void>;
  /** Number of executions that wait for a slot. */
  waiting(): number;
  /** Why no more of the session may wait; null if they may. */
  full(session: string): Denied | null;
}

type SlotLimits = Pick<Config['server'], 'max_concurrent_calls' | 'max_session_calls'>;

/** The executions of a session. */
interface Line {
  running: number;
  /** They begin when called. */
  readonly queue: (() => void)[];
}

/** Executions that wait for each slot. One session cannot fill the whole queue, because it has fewer slots. */
const WAITING_PER_SLOT = 16;
/** Executions that may wait, however few the slots are: a person answers the questions of 256 calls at once. */
const [SESSION_MIN, MIN_IN_ALL] = [256, 512];
/** Milliseconds after which a refused caller may try again. */
const [RETRY_MIN_MS, RETRY_MAX_MS] = [100, 60_000];
/** Weight of the newest execution in their mean time. */
const NEWEST = 0.1;

export function createSlots(server: SlotLimits, clock: Pick<Clock, 'monotonic'>): Slots {
  /** By session. The one that came or was served last is at the end. */
  const lines = new Map<string, Line>();
  let running = 0;
  let meanMs = 0;

  const waiting = (): number => [...lines.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  const full = (session: string): Denied | null => {
    const queues = [
      {
        whose: 'of this session',
        length: lines.get(session)?.queue.length ?? 0,
        slots: server.max_session_calls,
        min: SESSION_MIN,
      },
      { whose: 'in all', length: waiting(), slots: server.max_concurrent_calls, min: MIN_IN_ALL },
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
  const forget = (session: string, line: Line): void => {
    if (line.running === 0 && line.queue.length === 0 && lines.get(session) === line) lines.delete(session);
  };
  const serve = (): void => {
    while (running < server.max_concurrent_calls) {
      const due = [...lines].filter(([, line]) => line.queue.length > 0 && line.running < server.max_session_calls);
      const fewest = Math.min(...due.map(([, line]) => line.running));
      const [session, line] = due.find(([, line]) => line.running === fewest) ?? [];
      if (session === undefined || line === undefined) return;
      lines.delete(session);
      lines.set(session, line);
      running += 1;
      line.running += 1;
      line.queue.shift()?.();
    }
  };
  return {
    async take(session, signal) {
      if (signal.aborted) throw reasonOf(signal);
      const fault = full(session);
      if (fault !== null) throw denial(fault, {});
      const line = lines.get(session) ?? { running: 0, queue: [] };
      lines.set(session, line);
      const turn = waitIn(line.queue, signal);
      serve();
      await turn.catch((thrown: unknown) => {
        forget(session, line);
        throw thrown;
      });
      const began = clock.monotonic();
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        meanMs += NEWEST * (clock.monotonic() - began - meanMs);
        running -= 1;
        line.running -= 1;
        serve();
        forget(session, line);
      };
    },
    waiting,
    full,
  };
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
