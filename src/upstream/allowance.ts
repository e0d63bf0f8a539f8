/** How much of something may come: so much at once, and so much in each second after that. */
export class Allowance {
  readonly #atOnce: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(atOnce: number, perSecond: number, nowMs: number) {
    this.#atOnce = atOnce;
    this.#perSecond = perSecond;
    this.#left = atOnce;
    this.#atMs = nowMs;
  }

  /** Allows so much more, though never more than may come at once. */
  give(amount: number): void {
    this.#left = Math.min(this.#atOnce, this.#left + amount);
  }

  /** False if it is more than is allowed. Times are monotonic milliseconds. */
  take(amount: number, nowMs: number): boolean {
    this.#left = Math.min(this.#atOnce, this.#left + ((nowMs - this.#atMs) / 1_000) * this.#perSecond);
    this.#atMs = nowMs;
    this.#left -= amount;
    return this.#left >= 0;
  }
}
