import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PacedWork } from '#src/upstream/paced-work.js';

interface Asked {
  request(): void;
}

/** Work whose time a test turns by hand. It takes `tookMs`, and `during` happens while it is under way. */
function paced({ tookMs = 0, during = () => {} }: { tookMs?: number; during?: (paced: Asked) => void } = {}) {
  let now = 0;
  const doneAt: number[] = [];
  const waiting: { at: number; wake: () => void }[] = [];
  const subject = {};
  const asked: Asked = { request: () => work.request(subject) };
  const work: PacedWork<object> = new PacedWork<object>({
    clock: { monotonic: () => now },
    timer: {
      after(ms, wake) {
        waiting.push({ at: now + ms, wake });
        return () => {};
      },
    },
    async work() {
      doneAt.push(now);
      now += tookMs;
      during(asked);
    },
    onFailure() {},
  });
  return {
    doneAt,
    ...asked,
    forget: () => work.forget(),
    /** Lets time pass, and what is due happen. */
    async pass(ms: number) {
      const end = now + ms;
      for (;;) {
        // What is under way ends first.
        await setImmediate();
        const [next] = waiting;
        if (next === undefined || next.at > end) break;
        waiting.shift();
        now = Math.max(now, next.at);
        next.wake();
      }
      now = Math.max(now, end);
    },
  };
}

describe('issue 34 lists that a server says have changed', () => {
  it('issue 34 are read at once if they change now and then', async () => {
    const { doneAt, request, pass } = paced();
    for (let change = 0; change < 5; change++) {
      request();
      await pass(180_000);
    }
    expect(doneAt).toEqual([0, 180_000, 360_000, 540_000, 720_000]);
  });

  it('issue 34 are read ever more seldom if they change without an end', async () => {
    const { doneAt, request, pass } = paced({ during: (work) => work.request() });
    request();
    await pass(600_000);
    expect(doneAt).toEqual([
      0,
      0,
      0,
      5_000,
      15_000,
      35_000,
      75_000,
      ...Array.from({ length: 8 }, (_, at) => 135_000 + at * 60_000),
    ]);
  });

  it('issue 34 are read for at most a part of the time if they are large', async () => {
    const { doneAt, request, pass } = paced({ tookMs: 2_000, during: (work) => work.request() });
    request();
    await pass(100_000);
    expect(doneAt).toEqual([0, 22_000, 44_000, 66_000, 88_000]);
  });

  it('issue 34 are read once more after a change that comes while they are read, and not again', async () => {
    let changes = 3;
    const { doneAt, request, pass } = paced({
      tookMs: 100,
      during: (work) => {
        // Several at once are one.
        if (changes-- > 0) for (let at = 0; at < 10; at++) work.request();
      },
    });
    request();
    await pass(600_000);
    expect(doneAt).toHaveLength(4);
  });

  it('issue 34 are not read any more when their process has ended', async () => {
    const { doneAt, request, forget, pass } = paced({ tookMs: 100 });
    request();
    await pass(200);
    request();
    forget();
    await pass(600_000);
    expect(doneAt).toEqual([0]);
  });
});
