import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { createSlots, type Slots } from '#src/dispatch/slots.js';

const free = new AbortController().signal;
const slotsOf = (inAll: number, ofSession = inAll): Slots =>
  createSlots({ max_concurrent_calls: inAll, max_session_calls: ofSession }, { monotonic: () => 0 });

describe('NFR-1.4 the limit on concurrent executions', () => {
  it('makes further executions wait in order', async () => {
    const slots = slotsOf(2);
    const first = await slots.take('one', free);
    await slots.take('one', free);
    const order: string[] = [];
    const third = slots.take('one', free).then((giveBack) => {
      order.push('third');
      return giveBack;
    });
    const fourth = slots.take('one', free).then(() => order.push('fourth'));
    expect(slots.waiting()).toBe(2);
    first();
    first();
    (await third)();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
    expect(slots.waiting()).toBe(0);
  });

  it('gives a freed slot to the waiting execution, and no other gets it first', async () => {
    const slots = slotsOf(1);
    const held = await slots.take('one', free);
    const order: string[] = [];
    const waiting = slots.take('one', free).then((giveBack) => {
      order.push('waiting');
      return giveBack;
    });
    held();
    const late = slots.take('one', free).then(() => order.push('late'));
    expect(slots.waiting()).toBe(1);
    (await waiting)();
    await late;
    expect(order).toEqual(['waiting', 'late']);
  });

  it('removes an execution that is cancelled while it waits, and gives the slot to the next', async () => {
    const slots = slotsOf(1);
    const held = await slots.take('one', free);
    const cancel = new AbortController();
    const cancelled = slots.take('one', cancel.signal);
    const next = slots.take('one', free);
    cancel.abort(new ContextdError('CANCELLED', 'gone'));
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    held();
    expect(await next).toBeTypeOf('function');
  });

  it('does not queue an execution that was cancelled before', async () => {
    const slots = slotsOf(1);
    await expect(slots.take('one', AbortSignal.abort(new ContextdError('INTERRUPTED', 'stop')))).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});

describe('NFR-1.4 the share of a session', () => {
  it('is bounded, so that a flood leaves room for others', async () => {
    const slots = slotsOf(3, 2);
    const flood = Array.from({ length: 9 }, () => slots.take('flood', free));
    await Promise.all(flood.slice(0, 2));
    expect(slots.waiting()).toBe(7);
    expect(await slots.take('other', free)).toBeTypeOf('function');
    expect(slots.waiting()).toBe(7);
  });

  it('is never more than its limit, and a free slot goes to the session with the fewest executions', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ take: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd') }) },
      { weight: 3, arbitrary: fc.record({ release: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
    );
    const limits = fc.record({ inAll: fc.integer({ min: 1, max: 6 }), ofSession: fc.integer({ min: 1, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(step, { minLength: 40, maxLength: 120 }),
        async ({ inAll, ofSession }, steps) => {
          const slots = slotsOf(inAll, ofSession);
          const running: { session: string; release: () => void }[] = [];
          const waiting: { session: string; cancel: AbortController }[] = [];
          const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
          const runningOf = (session: string): number => running.filter((one) => one.session === session).length;
          for (const one of steps) {
            const before = { running: [...running], waiting: [...waiting] };
            if ('take' in one) {
              const entry = { session: one.take, cancel: new AbortController() };
              waiting.push(entry);
              const leave = (): void => void waiting.splice(waiting.indexOf(entry), 1);
              slots.take(entry.session, entry.cancel.signal).then((release) => {
                leave();
                running.push({ session: entry.session, release });
              }, leave);
            } else if ('release' in one) running.splice(one.release % (running.length || 1), 1)[0]?.release();
            else waiting[one.cancel % (waiting.length || 1)]?.cancel.abort();
            await settle();
            expect(running.length).toBeLessThanOrEqual(inAll);
            for (const { session } of waiting) {
              // It waits for a reason.
              expect(running.length === inAll || runningOf(session) === ofSession).toBe(true);
            }
            const served = running.find((entry) => !before.running.includes(entry));
            if (served !== undefined && 'release' in one) {
              const fewest = before.waiting.filter(({ session }) => runningOf(session) < runningOf(served.session) - 1);
              expect(fewest).toEqual([]);
            }
            for (const session of 'abcd') {
              expect(runningOf(session)).toBeLessThanOrEqual(ofSession);
            }
          }
        },
      ),
    );
  });

  it('is what a session that waits has fewest of: two sessions take turns', async () => {
    const slots = slotsOf(1);
    const first = await slots.take('flood', free);
    const order: string[] = [];
    const turn = async (session: string): Promise<void> => {
      const release = await slots.take(session, free);
      order.push(session);
      release();
    };
    const all = [...Array.from({ length: 5 }, () => turn('flood')), turn('other'), turn('other')];
    first();
    await Promise.all(all);
    expect(order).toEqual(['flood', 'other', 'flood', 'other', 'flood', 'flood', 'flood']);
  });

  it('bounds what waits, with RATE_LIMITED and the time that the executions before it need', async () => {
    let now = 0;
    const slots = createSlots({ max_concurrent_calls: 4, max_session_calls: 2 }, { monotonic: () => now });
    for (let i = 0; i < 100; i += 1) {
      const release = await slots.take('one', free);
      now += 100;
      release();
    }
    await Promise.all([slots.take('one', free), slots.take('one', free)]);
    for (let i = 0; i < 256; i += 1) void slots.take('one', free);
    expect(slots.full('other')).toBeNull();
    const refused = await slots.take('one', free).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({
      code: 'RATE_LIMITED',
      details: { limit: 256 },
      message: expect.stringContaining('of this session'),
    });
    // 128 executions of a tenth of a second before it in each of the two slots of the session.
    expect(Object(refused).retryAfterMs).toBeGreaterThan(12_700);
    expect(Object(refused).retryAfterMs).toBeLessThanOrEqual(12_800);
    for (let i = 0; i < 258; i += 1) void slots.take(i < 250 ? 'two' : 'three', free);
    expect(slots.full('four')).toMatchObject({
      code: 'RATE_LIMITED',
      limit: 512,
      reason: expect.stringContaining('in all'),
    });
  });
});
