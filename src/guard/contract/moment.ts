import type { Clock } from '../../core/clock.ts';

/** One point in time on both clocks. If the wall clock was set back, the two differ. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { wallMs: clock.now(), monotonicMs: clock.monotonic() };
}
