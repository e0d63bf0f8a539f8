import type { Clock } from '../../core/clock.ts';
import { earliestFileTime } from '../../fs/file-time.ts';

/** One point in time on both clocks. If the wall clock was set back, the two differ. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { wallMs: clock.now(), monotonicMs: clock.monotonic() };
}

/** Now, as the files that are changed from now on will show it. */
export function beforeChanges(clock: Clock): Moment {
  return { wallMs: earliestFileTime(clock), monotonicMs: clock.monotonic() };
}
