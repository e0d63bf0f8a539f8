import { REFUSALS_AT_ONCE, REFUSALS_PER_SECOND } from './limits.ts';
import { Meter } from './meter.ts';

/** Bounds how many refusals of a scope are reported one by one, so that a program in a loop does not fill the records. */
export class RefusalMeter {
  readonly #meter = new Meter(REFUSALS_AT_ONCE, REFUSALS_PER_SECOND);
  #unreported = 0;
  #isQuiet = false;

  /** `starts` is true for the first refusal of many that is not reported. */
  take(nowMs: number): { readonly isReported: boolean; readonly starts: boolean } {
    const isReported = this.#meter.take(nowMs);
    const starts = !isReported && !this.#isQuiet;
    if (!isReported) this.#unreported += 1;
    this.#isQuiet = !isReported;
    return { isReported, starts };
  }

  /** How many were not reported since this was asked last. */
  takeUnreported(): number {
    const count = this.#unreported;
    this.#unreported = 0;
    return count;
  }
}
