import type { Timer } from './clock.ts';

/** Keeps the process alive, unlike `systemTimer`. */
const processTimer: Timer = {
  after(ms, wake) {
    const timeout = setTimeout(wake, ms);
    return () => clearTimeout(timeout);
  },
};

/**
 * Waits at most `ms` milliseconds for `work`. After that it returns or throws what `late` returns or throws. It does
 * not cancel the work: `late` or the caller must. A later failure of the work is ignored.
 */
export async function within<T, L>(
  ms: number,
  work: Promise<T>,
  late: () => L,
  timer: Timer = processTimer,
): Promise<T | L> {
  let cancel = (): void => {};
  const over = new Promise<L>((resolve, reject) => {
    cancel = timer.after(ms, () => {
      try {
        resolve(late());
      } catch (thrown) {
        reject(thrown);
      }
    });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    cancel();
  }
}

/** Waits for `work`; rejects with the signal's reason once it aborts. A later failure of the work is ignored. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
