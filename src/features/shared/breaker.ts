import type { Clock } from '../../core/clock.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/**
 * Keeps calls away from a server that failed. After each failure in a row the wait doubles, from half a second to a minute,
 * less up to a fifth of it, so that many daemons do not come back at the same moment.
 */
export class Breaker {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: () => number;
  #failures = 0;
  #opensAt = 0;
  #fault: string | null = null;

  /** `random` gives numbers from 0 to below 1. */
  constructor({ clock, random }: { clock: Pick<Clock, 'monotonic'>; random: () => number }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Why the last call failed; null if it did not. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Milliseconds until the next call is allowed; 0: now. */
  get waitMs(): number {
    return this.#fault === null ? 0 : Math.max(0, this.#opensAt - this.#clock.monotonic());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#fault = null;
  }

  failed(fault: string): void {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#fault = fault;
    this.#opensAt = this.#clock.monotonic() + wait * (1 - 0.2 * this.#random());
  }
}
