import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { McpMessage } from '#src/core/passing.js';
import { NoticeQueue } from '#src/features/upstreams/notice-queue.js';

const message = (data: number): McpMessage => ({ method: 'notifications/message', params: { data } });

/** A queue whose masking takes a turn of the loop, and fails with a message that cannot be masked. */
function queue({ unmaskable = -1 } = {}) {
  const batches: number[] = [];
  const sent: unknown[] = [];
  const made = new NoticeQueue(async (messages) => {
    batches.push(messages.length);
    await setImmediate();
    if (messages.some(({ params }) => params.data === unmaskable)) throw new Error('too large');
    return messages.map(({ method, params }) => ({ method, params: { masked: params.data ?? null } }));
  });
  return {
    made,
    batches,
    sent,
    push: (data: number) => made.push(message(data), ({ params }) => sent.push(params.masked)),
  };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('issue 34: thousands of notifications are masked in few turns, and sent in their order', async () => {
  const { made, batches, sent, push } = queue();
  for (const data of upTo(5_000)) push(data);
  await made.sent();
  expect(sent).toEqual(upTo(5_000));
  expect(batches.length).toBeLessThan(50);
});

it('issue 34: what was pushed before counts as sent, although more comes without an end', async () => {
  const { made, sent, push } = queue();
  push(0);
  const before = made.sent();
  for (const data of upTo(1_000)) push(data + 1);
  await before;
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.length).toBeLessThan(1_000);
});

it('issue 34: notifications of a request that ends are not masked from then on, and those beside them are sent', async () => {
  const { made, batches, sent, push } = queue();
  const ended = new AbortController();
  for (const data of upTo(1_000)) made.push(message(data), () => sent.push('late'), ended.signal);
  push(1);
  ended.abort();
  await made.sent();
  // The first one had begun.
  expect(sent).toEqual(['late', 1]);
  expect(batches).toEqual([1, 1]);
});

it('issue 34: a notification that cannot be masked is not sent, and those beside it are', async () => {
  const { made, sent, push } = queue({ unmaskable: 7 });
  for (const data of upTo(20)) push(data);
  await made.sent();
  expect(sent).toEqual(upTo(20).filter((data) => data !== 7));
});

it('issue 34: large notifications are masked one by one, so that answers of other calls do not wait for all', async () => {
  const batches: number[] = [];
  const made = new NoticeQueue(async (messages) => {
    batches.push(messages.length);
    await setImmediate();
    return messages;
  });
  const large = { method: 'notifications/message', params: { data: 'x'.repeat(60_000) } };
  for (const _ of upTo(10)) made.push(large, () => {});
  await made.sent();
  expect(batches).toEqual(Array(10).fill(1));
});

it('issue 34: a notification whose sending throws holds up none of those beside it or after it', async () => {
  const { made, sent, push } = queue();
  push(0);
  made.push(message(1), () => {
    throw new Error('the client is gone');
  });
  push(2);
  await made.sent();
  push(3);
  await made.sent();
  expect(sent).toEqual([0, 2, 3]);
});

it('issue 34: masking that throws at once, or returns too few messages, ends no queue', async () => {
  const sent: unknown[] = [];
  let calls = 0;
  const made = new NoticeQueue((messages) => {
    calls += 1;
    if (calls === 1) throw new Error('no engine');
    return Promise.resolve(messages.slice(0, calls === 2 ? 0 : 1));
  });
  for (const data of upTo(3)) {
    made.push(message(data), ({ params }) => sent.push(params.data));
    await made.sent();
  }
  expect(sent).toEqual([2]);
});
