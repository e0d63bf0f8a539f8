import { ContextdError } from '../core/errors.ts';

/** The calls a door is carrying out. */
export interface CallsInFlight {
  /** Runs `work` with a signal that the door's end and what is handed to `onCancel` abort, until `work` has ended. */
  run<T>(onCancel: (cancel: () => void) => unknown, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts what is still under way with INTERRUPTED and resolves when all of it has ended. */
  interrupt(): Promise<void>;
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<AbortController, Promise<unknown>>();
  return {
    async run(onCancel, work) {
      const controller = new AbortController();
      let ended = false;
      // A transport tells of the end of an answered call in the same way as of a cancelled one.
      onCancel(() => ended || controller.abort(cancelled()));
      const running = work(controller.signal);
      calls.set(controller, running);
      try {
        return await running;
      } finally {
        ended = true;
        calls.delete(controller);
      }
    },
    async interrupt() {
      const ended = Promise.allSettled(calls.values());
      for (const controller of calls.keys()) controller.abort(interrupted());
      await ended;
    },
  };
}

function cancelled(): ContextdError {
  return new ContextdError('CANCELLED', 'the caller cancelled the call or went away');
}

function interrupted(): ContextdError {
  return new ContextdError('INTERRUPTED', 'contextd stopped before the call had ended', {
    remedy: 'Look at what it had done so far before calling again.',
  });
}
