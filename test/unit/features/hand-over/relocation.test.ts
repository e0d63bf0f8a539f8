import { describe, expect, it } from 'vitest';
import { Relocation } from '#src/features/hand-over/relocation.js';

/** A store whose work ends when it is let go, and a next daemon that records what it is asked. */
function scene() {
  const relocation = new Relocation();
  const ends: (() => void)[] = [];
  const store = {
    name: 'store',
    async write(text: string): Promise<string> {
      await new Promise<void>((resolve) => ends.push(resolve));
      return `${text} here`;
    },
  };
  const asked: unknown[] = [];
  const next = {
    async ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
      asked.push([name, ...args]);
      return 'there' as T;
    },
  };
  return { relocation, store: relocation.object('store', store, ['write']), ends, asked, next };
}

describe('work that moves to the next daemon', () => {
  it('NFR-2.3: is done here before, waits while the state moves, and is asked of the next daemon after', async () => {
    const { relocation, store, ends, asked, next } = scene();
    const first = store.write('a');
    const paused = relocation.pause();
    const second = store.write('b');
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await paused;
    expect(await first).toBe('a here');
    expect([ends.length, asked]).toEqual([1, []]);
    relocation.leave(next);
    expect(await second).toBe('there');
    expect(await store.write('c')).toBe('there');
    expect(asked).toEqual([
      ['store.write', 'b'],
      ['store.write', 'c'],
    ]);
    expect(store.name).toBe('store');
  });

  it('goes on here if it does not move after all', async () => {
    const { relocation, store, ends, asked } = scene();
    await relocation.pause();
    const waiting = store.write('a');
    relocation.resume();
    await expect.poll(() => ends.length).toBe(1);
    ends[0]?.();
    expect([await waiting, asked]).toEqual(['a here', []]);
  });

  it('is done for the daemon before under the same name, and passed on if this one has left too', async () => {
    const { relocation, ends, asked, next } = scene();
    const served = relocation.serve('store.write', ['a']);
    ends[0]?.();
    expect(await served).toBe('a here');
    await relocation.pause();
    relocation.leave(next);
    expect(await relocation.serve('store.write', ['b'])).toBe('there');
    expect(asked).toEqual([['store.write', 'b']]);
    await expect(relocation.serve('unknown', [])).rejects.toThrow('no work is named unknown');
  });

  it('has one name each, also in a relocation that moves at another time', () => {
    const { relocation } = scene();
    const later = new Relocation(relocation);
    expect(() => later.work('store.write', async () => null)).toThrow('two works are named store.write');
  });
});
