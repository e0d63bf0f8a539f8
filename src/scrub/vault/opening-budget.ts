/** Over which openings are counted. */
const WINDOW_MS = 60 * 60 * 1000;

/** When one secret was opened within the last hour, by a monotonic clock. */
export class OpeningBudget {
  #times: number[] = [];

  /** Milliseconds until one more is allowed; 0: at once. Infinity when none is allowed at all. */
  waitMs(max: number, now: number): number {
    if (max <= 0) return Number.POSITIVE_INFINITY;
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    const freed = this.#times[this.#times.length - max];
    return freed === undefined ? 0 : Math.max(1, Math.ceil(freed + WINDOW_MS - now));
  }

  book(now: number): void {
    this.#times.push(now);
  }
}
