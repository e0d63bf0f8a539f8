/** Counts what one scope may do: so much at once, and so much in each second after that. */
export class Meter {
  readonly #atOnce: number;
  readonly #perSecond: number;
  #left: number;
  #atMs = 0;

  constructor(atOnce: number, perSecond: number) {
    this.#atOnce = atOnce;
    this.#perSecond = perSecond;
    this.#left = atOnce;
  }

  /** True if one more is within the limit. */
  take(nowMs: number): boolean {
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#left = Math.min(this.#atOnce, this.#left + (elapsedMs / 1_000) * this.#perSecond);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
