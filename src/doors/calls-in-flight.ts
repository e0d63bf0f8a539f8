import { ContextdError } from '../core/errors.ts';

/** The calls that a door is carrying out. */
export interface CallsInFlight {
  /** Runs `work` with a signal that aborts when the door stops or the callback passed to `onCancel` is called. */
  run<T>(onCancel: (cancel: () => void) => unknown, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts all running calls with INTERRUPTED and resolves when they have ended. */
  interrupt(): Promise<void>;
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<AbortController, Promise<unknown>>();
  return {
    async run(onCancel, work) {
      const controller = new AbortController();
      let ended = false;
      // A transport reports the end of an answered call in the same way as a cancelled call.
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
    remedy: 'Check what the call has done before you repeat it.',
  });
}
