import { describe, expect, it } from 'vitest';
import { pause, type Timer } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { type Chore, createChores, pruneChore } from '#src/features/shared/chores.js';
import { Pausable } from '#src/features/shared/pausable.js';

/** A timer that the test turns by hand. */
class TestTimer implements Timer {
  nowMs = 0;
  readonly #waiting = new Map<() => void, number>();

  after(ms: number, wake: () => void): () => void {
    const entry = () => wake();
    this.#waiting.set(entry, this.nowMs + ms);
    return () => this.#waiting.delete(entry);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Wakes what is due, one after another, and lets the woken work go on. */
  async advance(ms: number): Promise<void> {
    const end = this.nowMs + ms;
    for (;;) {
      const [next] = [...this.#waiting].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b);
      if (next === undefined) break;
      this.#waiting.delete(next[0]);
      this.nowMs = next[1];
      next[0]();
      await settled();
    }
    this.nowMs = end;
  }
}

/** Resolves once every promise that can settle without a timer has settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A chore that runs until the test lets it end. */
function heldChore(name: string, everyMs: number) {
  const runs: PromiseWithResolvers<void>[] = [];
  const chore: Chore = {
    name,
    everyMs,
    run() {
      const held = Promise.withResolvers<void>();
      runs.push(held);
      return held.promise;
    },
  };
  return { chore, runs };
}

async function startChores(chores: readonly Chore[], pausable = new Pausable()) {
  const timer = new TestTimer();
  const errors: string[] = [];
  const logger = {
    ...silentLogger,
    error: (event: string, fields: object = {}, cause?: unknown) =>
      errors.push(`${event} ${JSON.stringify(fields)} ${cause instanceof Error ? cause.message : ''}`),
  };
  const part = createChores(chores, { timer, logger, pausable });
  await part.start();
  return { timer, errors, part };
}

describe('the scheduler of background chores', () => {
  it('NFR-2.3: is paused only once no chore runs, begins none until it goes on, and stops meanwhile', async () => {
    const pausable = new Pausable();
    const slow = heldChore('slow', 10);
    let quick = 0;
    const chores = [slow.chore, { name: 'quick', everyMs: 10, run: () => void quick++ }];
    const { timer, errors, part } = await startChores(chores, pausable);
    await timer.advance(10);
    expect([slow.runs.length, quick]).toEqual([1, 1]);
    let isPaused = false;
    const paused = pausable.pause().then(() => {
      isPaused = true;
    });
    await timer.advance(20);
    expect([isPaused, quick]).toEqual([false, 1]);
    slow.runs[0]?.resolve();
    await paused;
    await timer.advance(20);
    expect([slow.runs.length, quick]).toEqual([1, 1]);
    pausable.resume();
    await timer.advance(10);
    expect([slow.runs.length, quick]).toEqual([2, 2]);
    slow.runs[1]?.resolve();
    await settled();
    await pausable.pause();
    await timer.advance(10);
    await part.stop();
    expect(errors).toEqual([]);
  });

  it('runs each chore at its own interval, first one interval after the start', async () => {
    const runs: string[] = [];
    const { timer, part } = await startChores([
      { name: 'a', everyMs: 10, run: () => void runs.push('a') },
      { name: 'b', everyMs: 25, run: () => void runs.push('b') },
    ]);
    await timer.advance(9);
    expect(runs).toEqual([]);
    await timer.advance(41);
    expect(runs).toEqual(['a', 'a', 'b', 'a', 'a', 'b', 'a']);
    await part.stop();
  });

  it('never runs a chore twice at the same time, and another chore does not wait for it', async () => {
    const slow = heldChore('slow', 10);
    let quick = 0;
    const { timer, part } = await startChores([slow.chore, { name: 'quick', everyMs: 10, run: () => void quick++ }]);
    await timer.advance(100);
    expect(slow.runs).toHaveLength(1);
    expect(quick).toBe(10);
    slow.runs[0]?.resolve();
    await settled();
    await timer.advance(10);
    expect(slow.runs).toHaveLength(2);
    slow.runs[1]?.resolve();
    await part.stop();
  });

  it('logs a failed run with the name of its chore, and runs the chore again', async () => {
    let runs = 0;
    const { timer, errors, part } = await startChores([
      {
        name: 'at once',
        everyMs: 10,
        run() {
          runs += 1;
          throw new Error('no');
        },
      },
      { name: 'later', everyMs: 10, run: () => Promise.reject(new Error('neither')) },
    ]);
    await timer.advance(20);
    expect(runs).toBe(2);
    expect(errors.slice(0, 2).toSorted()).toEqual([
      'chore.failed {"chore":"at once"} no',
      'chore.failed {"chore":"later"} neither',
    ]);
    await part.stop();
  });

  it('waits at the stop for the chore that runs, and starts none after it', async () => {
    const slow = heldChore('slow', 10);
    let laterRuns = 0;
    const { timer, part } = await startChores([
      slow.chore,
      { name: 'later', everyMs: 50, run: () => void laterRuns++ },
    ]);
    await timer.advance(10);
    let isStopped = false;
    const stopping = part.stop().then(() => {
      isStopped = true;
    });
    await settled();
    expect(isStopped).toBe(false);
    slow.runs[0]?.resolve();
    await stopping;
    expect(timer.waiting).toBe(0);
    await timer.advance(1000);
    expect(slow.runs).toHaveLength(1);
    expect(laterRuns).toBe(0);
    await part.stop();
  });

  it('prunes artifacts once an hour', async () => {
    let prunes = 0;
    const prune = async () => ++prunes;
    const { timer, part } = await startChores([pruneChore({ prune })]);
    await timer.advance(2 * 60 * 60 * 1000);
    expect(prunes).toBe(2);
    await part.stop();
  });
});

describe('a pause of background work', () => {
  it('ends after its time', async () => {
    const timer = new TestTimer();
    let isOver = false;
    void pause(timer, 10, new AbortController().signal).then(() => {
      isOver = true;
    });
    await timer.advance(9);
    expect(isOver).toBe(false);
    await timer.advance(1);
    expect(isOver).toBe(true);
  });

  it('ends at once when the daemon stops, and leaves no timer', async () => {
    const timer = new TestTimer();
    const stopping = new AbortController();
    const pausing = pause(timer, 10, stopping.signal);
    stopping.abort();
    await pausing;
    await pause(timer, 10, stopping.signal);
    expect(timer.waiting).toBe(0);
  });
});
