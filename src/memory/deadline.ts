import type { Timer } from '../core/clock.ts';

/** Waits for `work`, but not longer than `ms` milliseconds: then it fails with `fault`, and `late` is aborted. */
export async function withDeadline<T>({ ms, fault, late, timer, stopping }: Deadline, work: Promise<T>): Promise<T> {
  const cancel = timer.after(ms, () => late.abort(new Error(fault)));
  try {
    return await untilAborted(work, AbortSignal.any([late.signal, stopping]));
  } finally {
    cancel();
  }
}

export interface Deadline {
  readonly ms: number;
  readonly fault: string;
  readonly late: AbortController;
  readonly timer: Timer;
  readonly stopping: AbortSignal;
}

/** Waits for `work`, or fails as soon as the signal is aborted. A later failure of `work` is no unhandled rejection. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
