import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Timer } from '#src/core/clock.js';
import { untilAborted, within } from '#src/core/deadline.js';

/** A timer that fires when the test says so. */
function handTimer() {
  const waiting = new Map<() => void, number>();
  const timer: Timer = {
    after(ms, wake) {
      waiting.set(wake, ms);
      return () => waiting.delete(wake);
    },
  };
  return {
    timer,
    /** The milliseconds of the timers that run. */
    running: () => [...waiting.values()],
    fire: () => {
      for (const wake of waiting.keys()) wake();
    },
  };
}

const never = new Promise<string>(() => {});

describe('within', () => {
  it('returns the result of the work, and ends the timer', async () => {
    const { timer, running } = handTimer();
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = within(70, promise, () => 'late', timer);
    expect(running()).toEqual([70]);
    resolve('done');
    expect(await result).toBe('done');
    expect(running()).toEqual([]);
  });

  it('throws what the work throws, and ends the timer', async () => {
    const { timer, running } = handTimer();
    const fault = new Error('it failed');
    await expect(within(70, Promise.reject(fault), () => 'late', timer)).rejects.toBe(fault);
    expect(running()).toEqual([]);
  });

  it('returns what `late` returns after the time', async () => {
    const { timer, fire, running } = handTimer();
    const result = within(70, never, () => null, timer);
    fire();
    expect(await result).toBeNull();
    expect(running()).toEqual([]);
  });

  it('throws what `late` throws after the time', async () => {
    const { timer, fire } = handTimer();
    const fault = new Error('too late');
    const result = within(
      70,
      never,
      () => {
        throw fault;
      },
      timer,
    );
    fire();
    await expect(result).rejects.toBe(fault);
  });

  it('does not call `late` if the work was in time', async () => {
    const { timer, fire } = handTimer();
    let calls = 0;
    await within(70, Promise.resolve(), () => calls++, timer);
    fire();
    expect(calls).toBe(0);
  });

  it('ignores a failure of the work after the time', async () => {
    const { timer, fire } = handTimer();
    const { promise, reject } = Promise.withResolvers<string>();
    const result = within(70, promise, () => 'late', timer);
    fire();
    expect(await result).toBe('late');
    // An unhandled rejection would fail the test run.
    reject(new Error('afterwards'));
    await turn();
  });

  it('measures the time itself if no timer is given', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
  });
});

describe('untilAborted', () => {
  it('settles with the work', async () => {
    const { signal } = new AbortController();
    const fault = new Error('it failed');
    expect(await untilAborted(Promise.resolve('done'), signal)).toBe('done');
    await expect(untilAborted(Promise.reject(fault), signal)).rejects.toBe(fault);
  });

  it('rejects with the reason of the signal, also of one that was aborted before', async () => {
    const reason = new Error('stop');
    const abort = new AbortController();
    const result = untilAborted(never, abort.signal);
    abort.abort(reason);
    await expect(result).rejects.toBe(reason);
    await expect(untilAborted(Promise.resolve('done'), abort.signal)).rejects.toBe(reason);
  });

  it('ignores a failure of the work after the abort', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    await expect(untilAborted(promise, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    reject(new Error('afterwards'));
    await turn();
  });
});
