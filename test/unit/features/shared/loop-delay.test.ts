import { expect, it } from 'vitest';
import { quantileUs } from '#src/core/histogram.js';
import { CallFigures } from '#src/features/shared/call-figures.js';
import { LoopDelay } from '#src/features/shared/loop-delay.js';

/** A clock and a timer that are turned by hand. */
function measured() {
  let nowMs = 0;
  const due: (() => void)[] = [];
  const callFigures = new CallFigures();
  const loopDelay = new LoopDelay({
    callFigures,
    clock: { monotonic: () => nowMs },
    timer: {
      after(_ms, wake) {
        due.push(wake);
        return () => void due.splice(due.indexOf(wake), 1);
      },
    },
  });
  const wakeAfter = (ms: number): void => {
    nowMs += ms;
    due.shift()?.();
  };
  return { callFigures, loopDelay, due, wakeAfter };
}

it('NFR-1.4: how late the event loop is counts only while calls run, and is no step before', () => {
  const { callFigures, loopDelay, due, wakeAfter } = measured();
  expect(callFigures.steps()).toEqual([]);
  loopDelay.measure();
  loopDelay.measure();
  expect(due).toHaveLength(1);
  for (let at = 0; at < 98; at += 1) wakeAfter(10);
  wakeAfter(10 + 15);
  wakeAfter(10 + 40);
  loopDelay.rest();
  expect(due).toEqual([]);
  const [figures, ...others] = callFigures.steps();
  expect(others).toEqual([]);
  expect(figures).toMatchObject({ step: 'event_loop', count: 100, sumUs: 55_000 });
  const quantiles = [0.5, 0.99, 1].map((quantile) => quantileUs(figures ?? { counts: [], count: 0 }, quantile));
  expect(quantiles).toEqual([50, 20_000, 50_000]);
});

it('NFR-1.4: it is the last of the steps, whenever it was first late', () => {
  const { callFigures, loopDelay, wakeAfter } = measured();
  loopDelay.measure();
  wakeAfter(11);
  callFigures.took({ identify_us: 1, audit_us: 2 });
  expect(callFigures.steps().map(({ step }) => step)).toEqual(['identify', 'audit', 'event_loop']);
});
