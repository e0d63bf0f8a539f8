import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Channel } from '#src/core/channel.js';

interface Sent {
  readonly id: number;
  readonly request: string;
}

function open(lastId?: number) {
  const sent: Sent[] = [];
  const channel = new Channel<string, string>((id, request) => sent.push({ id, request }), lastId);
  return { sent, channel };
}

describe('a channel', () => {
  it('numbers requests from 1, or from the number it was given', () => {
    const { sent, channel } = open();
    void channel.ask('a');
    void channel.ask('b');
    expect(sent).toEqual([
      { id: 1, request: 'a' },
      { id: 2, request: 'b' },
    ]);
    const next = open(channel.lastId);
    void next.channel.ask('c');
    expect(next.sent).toEqual([{ id: 3, request: 'c' }]);
  });

  it('gives each request its own reply, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(fc.nat(), { maxLength: 20 })
          .chain((keys) => fc.tuple(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: keys.length }))),
        async ([keys, order]) => {
          const { sent, channel } = open();
          const asked = keys.map((key) => channel.ask(String(key)).catch(String));
          for (const key of order) {
            const { id } = sent.find(({ request }) => request === String(key)) ?? { id: 0 };
            if (key % 2 === 0) channel.resolve(id, `answer ${key}`);
            else channel.reject(id, `refused ${key}`);
          }
          const expected = keys.map((key) => (key % 2 === 0 ? `answer ${key}` : `refused ${key}`));
          expect(await Promise.all(asked)).toEqual(expected);
          expect(channel.pendingCount).toBe(0);
        },
      ),
    );
  });

  it('ignores a second reply and the reply to an unknown number', async () => {
    const { channel } = open();
    const asked = channel.ask('a');
    channel.resolve(7, 'of another');
    channel.reject(7, new Error('of another'));
    expect(channel.pendingCount).toBe(1);
    channel.resolve(1, 'first');
    channel.resolve(1, 'second');
    channel.reject(1, new Error('second'));
    expect(await asked).toBe('first');
  });

  it('rejects all pending and all later requests with the first reason of the close', async () => {
    const { sent, channel } = open();
    const pending = [channel.ask('a'), channel.ask('b')];
    const reason = new Error('it died');
    channel.close(reason);
    channel.close(new Error('it died again'));
    const results = await Promise.allSettled([...pending, channel.ask('c')]);
    expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([reason, reason, reason]);
    expect(sent).toHaveLength(2);
    expect(channel.isClosed).toBe(true);
    expect(channel.pendingCount).toBe(0);
  });

  it('NFR-2.3: settles a request that was forgotten neither with a reply nor with its end', async () => {
    const { channel } = open();
    const settled: string[] = [];
    for (const name of ['replied', 'closed'])
      void channel.ask(name).then(
        () => settled.push(name),
        () => settled.push(name),
      );
    const other = channel.ask('other');
    channel.forget(1);
    channel.forget(2);
    expect([channel.isPending(1), channel.isPending(2), channel.pendingCount]).toEqual([false, false, 1]);
    channel.resolve(1, 'late');
    channel.close(new Error('it died'));
    await expect(other).rejects.toThrow('it died');
    expect(settled).toEqual([]);
  });

  it('rejects a request that cannot be sent, and forgets it', async () => {
    const fault = new Error('not cloneable');
    const channel = new Channel<string, string>(() => {
      throw fault;
    });
    await expect(channel.ask('a')).rejects.toBe(fault);
    expect(channel.pendingCount).toBe(0);
  });

  it('takes a reply that comes while the request is sent', async () => {
    const channel: Channel<string, string> = new Channel((id, request) => channel.resolve(id, `${request}!`));
    expect(await channel.ask('a')).toBe('a!');
  });
});
