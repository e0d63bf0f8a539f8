import type { Clock } from '../core/clock.ts';

/** Measures the duration of each step of one call, for the debug log and the benchmark. */
export interface StepTimes<Name extends string> {
  /** Adds the time since the last measurement to `name`. */
  end(name: Name): void;
  /** Awaits `work`, then calls `end(name)`, whether the work succeeded or failed. */
  of<T>(name: Name, work: Promise<T>): Promise<T>;
  /** Microseconds by name, as `<name>_us`, in order of first measurement. */
  fields(): Record<string, number>;
}

export function createStepTimes<Name extends string>(clock: Clock): StepTimes<Name> {
  const spent: Record<string, number> = {};
  let last = clock.monotonic();
  const end = (name: Name): void => {
    const now = clock.monotonic();
    spent[`${name}_us`] = (spent[`${name}_us`] ?? 0) + Math.round((now - last) * 1000);
    last = now;
  };
  return {
    end,
    async of(name, work) {
      try {
        return await work;
      } finally {
        end(name);
      }
    },
    fields: () => spent,
  };
}
