import { REFUSALS_AT_ONCE, REFUSALS_PER_SECOND } from './limits.ts';

/** Bounds how many refusals of a scope are reported, so that a program in a loop does not fill the records. */
export class RefusalMeter {
  #left = REFUSALS_AT_ONCE;
  #atMs = 0;
  #isQuiet = false;

  /** `starts` is true for the first refusal of many that is not reported. */
  take(nowMs: number): { readonly isReported: boolean; readonly starts: boolean } {
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#left = Math.min(REFUSALS_AT_ONCE, this.#left + (elapsedMs / 1_000) * REFUSALS_PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      this.#isQuiet = false;
      return { isReported: true, starts: false };
    }
    const starts = !this.#isQuiet;
    this.#isQuiet = true;
    return { isReported: false, starts };
  }
}
