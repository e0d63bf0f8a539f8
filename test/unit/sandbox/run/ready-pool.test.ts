import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { ReadyPool, type ReadySandbox } from '#src/sandbox/run/ready-pool.js';

const IDLE_MS = 60_000;

/** A stand-in for a waiting sandbox, of which the pool reads only these. */
function waiting(name: string): ReadySandbox {
  return { fingerprint: name, startedAt: Date.now(), jail: { isAlive: true } } as ReadySandbox;
}

describe('the pool of waiting sandboxes', () => {
  let discarded: string[];
  let pool: ReadyPool;
  beforeEach(() => {
    vi.useFakeTimers();
    discarded = [];
    pool = new ReadyPool({
      perPolicy: 1,
      max: 4,
      idleMs: IDLE_MS,
      clock: { now: () => Date.now(), monotonic: () => Date.now() },
      logger: silentLogger,
      discard: ({ fingerprint }) => void discarded.push(fingerprint),
    });
  });
  afterEach(async () => {
    await pool.stop();
    vi.useRealTimers();
  });

  test('keeps one ready while its policy is in use, and none after it was idle', async () => {
    pool.used('policy', async () => waiting('one'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(pool.counts()).toEqual(new Map([['policy', 1]]));
    await vi.advanceTimersByTimeAsync(IDLE_MS + 10_000);
    expect([pool.counts(), discarded.includes('one')]).toEqual([new Map(), true]);
  });

  test('discards a sandbox that comes up after its policy was idle, and makes no other', async () => {
    const up: (() => void)[] = [];
    const make = vi.fn(
      () => new Promise<ReadySandbox>((resolve) => void up.push(() => resolve(waiting(`number ${up.length}`)))),
    );
    pool.used('policy', make);
    await vi.advanceTimersByTimeAsync(IDLE_MS + 10_000);
    expect(pool.counts()).toEqual(new Map());
    for (const come of up) come();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([make.mock.calls.length, discarded]).toEqual([1, ['number 1']]);
  });
});
