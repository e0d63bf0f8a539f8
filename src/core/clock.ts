/** Time as the parts see it. Tests pass their own clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that never goes back. Only differences have a meaning. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Wakes background work. Tests pass a timer that they turn by hand. */
export interface Timer {
  /** Calls `wake` once after `ms` milliseconds, unless the returned function was called before. */
  after(ms: number, wake: () => void): () => void;
}

/** Does not keep the process alive. */
export const systemTimer: Timer = {
  after(ms, wake) {
    const timeout = setTimeout(wake, ms).unref();
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `ms` milliseconds, or at once when the signal is aborted. */
export function pause(timer: Timer, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = timer.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
