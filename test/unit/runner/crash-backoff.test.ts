import { expect, it } from 'vitest';
import { CrashBackoff } from '#src/runner/tool-slot.js';

it('waits 0, 250, 500, 1000 … at most 30000 ms after failures in a row', () => {
  const backoff = new CrashBackoff();
  const waits = Array.from({ length: 12 }, () => {
    backoff.failed(1_000);
    return backoff.waitMs(1_000);
  });
  expect(waits).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000]);
});

it('reduces the wait over time, and an answer ends it', () => {
  const backoff = new CrashBackoff();
  backoff.failed(0);
  backoff.failed(0);
  expect(backoff.waitMs(100)).toBe(150);
  expect(backoff.waitMs(400)).toBe(0);
  backoff.succeeded();
  backoff.failed(500);
  expect(backoff.waitMs(500)).toBe(0);
});
