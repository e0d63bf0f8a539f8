import type { Clock, Timer } from '../../core/clock.ts';
import type { CallFigures } from './call-figures.ts';

/** Milliseconds between two looks. */
const EVERY_MS = 10;

export interface LoopDelayDeps {
  readonly callFigures: Pick<CallFigures, 'loopWasLate'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timer: Timer;
}

/**
 * How late the event loop comes to what is due: what a request waits while this process does something else, or while other
 * processes have the processors. It is counted as the step `event_loop`, and only while calls run, so an idle daemon is
 * not woken for it.
 */
export class LoopDelay {
  readonly #deps: LoopDelayDeps;
  #stop: (() => void) | null = null;

  constructor(deps: LoopDelayDeps) {
    this.#deps = deps;
  }

  /** Does nothing if it measures already. */
  measure(): void {
    if (this.#stop === null) this.#lookLater();
  }

  rest(): void {
    this.#stop?.();
    this.#stop = null;
  }

  #lookLater(): void {
    const { callFigures, clock, timer } = this.#deps;
    const dueMs = clock.monotonic() + EVERY_MS;
    this.#stop = timer.after(EVERY_MS, () => {
      const lateMs = Math.max(0, clock.monotonic() - dueMs);
      callFigures.loopWasLate(Math.round(lateMs * 1000));
      this.#lookLater();
    });
  }
}
