import type { Timer } from '../../core/clock.ts';
import { untilAborted, within } from '../../core/deadline.ts';

/**
 * Waits for `work`, but not longer than `ms` milliseconds, nor when contextd stops. At the deadline it fails with `fault`,
 * and `late` is aborted.
 */
export function withDeadline<T>({ ms, fault, late, timer, stopping }: Deadline, work: Promise<T>): Promise<T> {
  const giveUp = (): never => {
    late.abort(new Error(fault));
    throw late.signal.reason;
  };
  return within(ms, untilAborted(work, stopping), giveUp, timer);
}

export interface Deadline {
  readonly ms: number;
  readonly fault: string;
  readonly late: AbortController;
  readonly timer: Timer;
  readonly stopping: AbortSignal;
}
