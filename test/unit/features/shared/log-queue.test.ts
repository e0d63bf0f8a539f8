import { describe, expect, it } from 'vitest';
import type { LogFields } from '#src/core/log.js';
import { LogQueue } from '#src/features/shared/logger.js';

const hide = (text: string): string => text.replaceAll('swordfish', '[SECRET]');

function queueWith(maskLater: (texts: readonly string[]) => Promise<readonly string[]>) {
  const written: LogFields[] = [];
  const maskedAtOnce: string[] = [];
  const queue = new LogQueue({
    write: ({ event, fields }) => void written.push({ event, ...fields }),
    mask: (text) => {
      maskedAtOnce.push(text);
      return hide(text);
    },
    maskLater,
  });
  const push = (event: string, fields: LogFields = {}): void =>
    queue.push({ level: 'info', time: '2026-01-01T00:00:00.000Z', event, fields });
  return { queue, written, maskedAtOnce, push };
}

/** A mask that answers when the test tells it to. */
function heldMask() {
  const held: { texts: readonly string[]; answer(): void; fail(): void }[] = [];
  const maskLater = (texts: readonly string[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      held.push({ texts, answer: () => resolve(texts.map(hide)), fail: () => reject(new Error('no thread')) });
    });
  return { held, maskLater };
}

describe('the queue of log lines', () => {
  it('SEC-1.1: writes a line only after the search thread has masked it, and keeps the order', async () => {
    const { held, maskLater } = heldMask();
    const { written, maskedAtOnce, push } = queueWith(maskLater);
    push('first', { text: 'a swordfish', list: ['swordfish', 'b'], count: 1 });
    push('second');
    expect(written).toEqual([]);
    held[0]?.answer();
    await expect.poll(() => held.length).toBe(2);
    held[1]?.answer();
    await expect.poll(() => written.length).toBe(2);
    expect(written).toEqual([
      { event: 'first', text: 'a [SECRET]', list: ['[SECRET]', 'b'], count: 1 },
      { event: 'second' },
    ]);
    expect(maskedAtOnce).toEqual([]);
  });

  it('SEC-1.1: writes a line without text at once if nothing waits', () => {
    const { held, maskLater } = heldMask();
    const { written, push } = queueWith(maskLater);
    push('ready', { pid: 1 });
    expect(written).toEqual([{ event: 'ready', pid: 1 }]);
    expect(held).toEqual([]);
  });

  it('SEC-1.1: masks on the main thread what the search thread cannot mask', async () => {
    const { held, maskLater } = heldMask();
    const { written, push } = queueWith(maskLater);
    push('x', { text: 'swordfish' });
    held[0]?.fail();
    await expect.poll(() => written).toEqual([{ event: 'x', text: '[SECRET]' }]);
  });

  it('SEC-1.1: writes every line exactly once if it is flushed while the search thread works', async () => {
    const { held, maskLater } = heldMask();
    const { queue, written, push } = queueWith(maskLater);
    push('x', { text: 'swordfish' });
    queue.flush();
    push('y', { text: 'swordfish' });
    held[0]?.answer();
    await expect.poll(() => held.length).toBe(2);
    held[1]?.answer();
    await expect.poll(() => written.length).toBe(2);
    expect(written.map(({ event, text }) => [event, text])).toEqual([
      ['x', '[SECRET]'],
      ['y', '[SECRET]'],
    ]);
  });
});
