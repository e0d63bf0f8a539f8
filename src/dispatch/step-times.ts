import type { Clock } from '../core/clock.ts';

/** Milliseconds of each step of one call, for the debug log and the benchmark. */
export interface StepTimes {
  /** Books the time since the last booking to `step`. */
  end(step: string): void;
  /** Awaits the work and books its time to `step`, whether it succeeds or not. */
  of<T>(step: string, work: Promise<T>): Promise<T>;
  fields(): Record<string, number>;
}

export function createStepTimes(clock: Clock): StepTimes {
  const spent: Record<string, number> = {};
  let last = clock.monotonic();
  const end = (step: string): void => {
    const now = clock.monotonic();
    spent[`${step}_us`] = (spent[`${step}_us`] ?? 0) + Math.round((now - last) * 1000);
    last = now;
  };
  return {
    end,
    async of(step, work) {
      try {
        return await work;
      } finally {
        end(step);
      }
    },
    fields: () => spent,
  };
}
