import { closeSync, fstatSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { Loopbacks } from '#src/sandbox/machine/loopbacks.js';
import { closeNamespace, type LoopbackNamespace } from '#src/sandbox/machine/network.js';

const SCOPE = { project: '/project', tool: null };

/** Namespaces whose descriptors are of ordinary files. */
function openLoopbacks(make?: () => Promise<LoopbackNamespace>) {
  const made: LoopbackNamespace[] = [];
  const standard = async (): Promise<LoopbackNamespace> => {
    const namespace = {
      netFd: openSync('/dev/null', 'r'),
      userFd: openSync('/dev/null', 'r'),
      name: `net:[${made.length}]`,
    };
    made.push(namespace);
    return namespace;
  };
  return {
    made,
    loopbacks: new Loopbacks({ make: make ?? standard, close: closeNamespace, idleMs: 1_000, logger: silentLogger }),
  };
}

function isOpen({ netFd, userFd }: LoopbackNamespace): boolean {
  try {
    return fstatSync(netFd) !== null && userFd !== null && fstatSync(userFd) !== null;
  } catch {
    return false;
  }
}

describe('the network namespaces of projects', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('one is made for each key, also if two sandboxes start at the same time', async () => {
    const { loopbacks, made } = openLoopbacks();
    const [a, b, other] = await Promise.all([
      loopbacks.lease('a', SCOPE),
      loopbacks.lease('a', SCOPE),
      loopbacks.lease('b', SCOPE),
    ]);
    expect(a?.namespace).toBe(b?.namespace);
    expect(other?.namespace).not.toBe(a?.namespace);
    expect(made).toHaveLength(2);
    expect(loopbacks.nameOf('a')).toBe('net:[0]');
    loopbacks.close();
    expect(made.map(isOpen)).toEqual([false, false]);
  });

  test('one is given back when it is idle, and never while a sandbox is in it', async () => {
    const { loopbacks, made } = openLoopbacks();
    const [first, second] = [await loopbacks.lease('a', SCOPE), await loopbacks.lease('a', SCOPE)];
    first?.release();
    vi.advanceTimersByTime(5_000);
    expect(made.map(isOpen)).toEqual([true]);
    second?.release();
    vi.advanceTimersByTime(999);
    const third = await loopbacks.lease('a', SCOPE);
    vi.advanceTimersByTime(5_000);
    expect(made.map(isOpen)).toEqual([true]);
    third?.release();
    vi.advanceTimersByTime(1_000);
    expect([made.map(isOpen), loopbacks.nameOf('a')]).toEqual([[false], '']);
    // Its descriptors may have the same numbers.
    expect((await loopbacks.lease('a', SCOPE))?.namespace).toBe(made[1]);
    loopbacks.close();
  });

  test('a sandbox goes without if none can be made, and the next sandbox tries again', async () => {
    const fd = openSync('/dev/null', 'r');
    const answers = [
      Promise.reject(new Error('refused')),
      Promise.resolve({ netFd: fd, userFd: null, name: 'net:[7]' }),
    ];
    const { loopbacks } = openLoopbacks(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
    expect(await loopbacks.lease('a', SCOPE)).toBeNull();
    expect((await loopbacks.lease('a', SCOPE))?.namespace.name).toBe('net:[7]');
    loopbacks.close();
  });

  test('one that is made after the end is closed and joined by nobody', async () => {
    const fd = openSync('/dev/null', 'r');
    const { promise, resolve } = Promise.withResolvers<LoopbackNamespace>();
    const { loopbacks } = openLoopbacks(() => promise);
    const lease = loopbacks.lease('a', SCOPE);
    loopbacks.close();
    resolve({ netFd: fd, userFd: null, name: 'net:[8]' });
    expect(await lease).toBeNull();
    expect(() => closeSync(fd)).toThrow('EBADF');
  });
});
