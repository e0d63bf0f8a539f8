import type { RateLimit } from '../../core/envelope.ts';

/** Over which openings are counted. */
const WINDOW_MS = 60 * 60 * 1000;

/** When one secret was opened within the last hour, by a monotonic clock. */
export class OpeningBudget {
  #times: number[] = [];

  /** How long ago it was opened, in milliseconds. */
  agesMs(now: number): number[] {
    return this.#times.map((time) => now - time);
  }

  /** Takes in the openings of another process, whose clock is another one. */
  restore(agesMs: readonly number[], now: number): void {
    this.#times = agesMs.map((age) => now - age);
  }

  /** Milliseconds until one more is allowed; 0: at once. Infinity when none is allowed at all. */
  waitMs(max: number, now: number): number {
    if (max <= 0) return Number.POSITIVE_INFINITY;
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    const freed = this.#times[this.#times.length - max];
    return freed === undefined ? 0 : Math.max(1, Math.ceil(freed + WINDOW_MS - now));
  }

  /** How many openings are left, and when the oldest that counts is forgotten. */
  left(max: number, now: number): RateLimit {
    const within = this.#times.filter((time) => now - time < WINDOW_MS);
    const oldest = within[0] ?? now;
    return {
      limit: max,
      remaining: Math.max(0, max - within.length),
      retry_after_ms: Math.ceil(oldest + WINDOW_MS - now),
    };
  }

  book(now: number): void {
    this.#times.push(now);
  }
}
