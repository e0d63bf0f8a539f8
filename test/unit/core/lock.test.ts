import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedLock, Lock } from '#src/core/lock.js';

describe('a lock', () => {
  it('runs tasks one after another, in order', async () => {
    const lock = new Lock();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const results = [
      lock.run(async () => {
        log.push('first begins');
        await first.promise;
        log.push('first ends');
        return 1;
      }),
      lock.run(async () => {
        log.push('second');
        return 2;
      }),
    ];
    first.resolve();
    expect(await Promise.all(results)).toEqual([1, 2]);
    expect(log).toEqual(['first begins', 'first ends', 'second']);
  });

  it('goes on after a task that fails, and rejects for that task only', async () => {
    const lock = new Lock();
    const fault = new Error('it failed');
    const failing = lock.run(() => Promise.reject(fault));
    const next = lock.run(async () => 'next');
    await expect(failing).rejects.toBe(fault);
    expect(await next).toBe('next');
    await expect(lock.settled).resolves.toBeUndefined();
  });

  it('goes on after a task that throws at once', async () => {
    const lock = new Lock();
    const failing = lock.run(() => {
      throw new Error('at once');
    });
    await expect(failing).rejects.toThrow('at once');
    expect(await lock.run(async () => 'next')).toBe('next');
  });

  it('is settled when all tasks so far have ended', async () => {
    const lock = new Lock();
    let ended = 0;
    for (let n = 0; n < 3; n += 1) {
      void lock.run(async () => {
        await Promise.resolve();
        ended += 1;
      });
    }
    await lock.settled;
    expect(ended).toBe(3);
  });
});

describe('a lock with keys', () => {
  it('never runs two tasks of one key at once, and keeps their order', async () => {
    const tasks = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(4), fails: fc.boolean(), pause: fc.nat(3) }),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(tasks, async (given) => {
        const lock = new KeyedLock();
        const running = new Set<string>();
        const order = new Map<string, number[]>();
        const results: Promise<unknown>[] = [];
        for (const [index, { key, turns, fails, pause }] of given.entries()) {
          const result = lock.run(key, async () => {
            expect(running.has(key)).toBe(false);
            running.add(key);
            for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
            order.set(key, [...(order.get(key) ?? []), index]);
            running.delete(key);
            if (fails) throw index;
            return index;
          });
          results.push(result.then((value) => ({ value })).catch((thrown: unknown) => ({ thrown })));
          for (let turn = 0; turn < pause; turn += 1) await Promise.resolve();
        }
        const expected = given.map(({ fails }, index) => (fails ? { thrown: index } : { value: index }));
        expect(await Promise.all(results)).toEqual(expected);
        for (const indexes of order.values()) expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      }),
    );
  });

  it('does not let one key wait for another', async () => {
    const lock = new KeyedLock();
    const blocked = Promise.withResolvers<void>();
    const first = lock.run('a', () => blocked.promise);
    expect(await lock.run('b', async () => 'b')).toBe('b');
    blocked.resolve();
    await first;
  });
});
