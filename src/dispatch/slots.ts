import { ContextdError } from '../core/errors.ts';

/** Limits concurrent executions. Further ones wait in FIFO order. */
export interface Slots {
  /** Waits for a slot and returns its release function. Throws the signal's reason if it aborts first. */
  take(signal: AbortSignal): Promise<() => void>;
  /** Number of executions waiting for a slot. */
  waiting(): number;
}

export function createSlots(limit: number): Slots {
  const queue: (() => void)[] = [];
  let taken = 0;
  // The slot goes straight to the next waiter, so that no later call can overtake it.
  const handOn = (): void => {
    const next = queue.shift();
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    async take(signal) {
      if (signal.aborted) throw reasonOf(signal);
      if (taken < limit) taken += 1;
      else await turn(queue, signal);
      let isGivenBack = false;
      return () => {
        if (!isGivenBack) handOn();
        isGivenBack = true;
      };
    },
    waiting: () => queue.length,
  };
}

function turn(queue: (() => void)[], signal: AbortSignal): Promise<void> {
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

function reasonOf(signal: AbortSignal): ContextdError {
  return signal.reason instanceof ContextdError
    ? signal.reason
    : new ContextdError('CANCELLED', 'the call was cancelled');
}
