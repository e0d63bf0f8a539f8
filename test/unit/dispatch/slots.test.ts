import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { createSlots, type SlotOwner, type Slots } from '#src/dispatch/slots.js';

const free = new AbortController().signal;
const slotsOf = (inAll: number, ofSession = inAll, ofCaller = inAll): Slots =>
  createSlots(
    { max_concurrent_calls: inAll, max_caller_calls: ofCaller, max_session_calls: ofSession },
    { monotonic: () => 0 },
  );
/** A caller of its own. */
const owner = (session: string): SlotOwner => ({ caller: `caller of ${session}`, session });
const from = (caller: string, session: string): SlotOwner => ({ caller, session });

describe('NFR-1.4 the limit on concurrent executions', () => {
  it('makes further executions wait in order', async () => {
    const slots = slotsOf(2);
    const first = await slots.take(owner('one'), free);
    await slots.take(owner('one'), free);
    const order: string[] = [];
    const third = slots.take(owner('one'), free).then((giveBack) => {
      order.push('third');
      return giveBack;
    });
    const fourth = slots.take(owner('one'), free).then(() => order.push('fourth'));
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
    const held = await slots.take(owner('one'), free);
    const order: string[] = [];
    const waiting = slots.take(owner('one'), free).then((giveBack) => {
      order.push('waiting');
      return giveBack;
    });
    held();
    const late = slots.take(owner('one'), free).then(() => order.push('late'));
    expect(slots.waiting()).toBe(1);
    (await waiting)();
    await late;
    expect(order).toEqual(['waiting', 'late']);
  });

  it('removes an execution that is cancelled while it waits, and gives the slot to the next', async () => {
    const slots = slotsOf(1);
    const held = await slots.take(owner('one'), free);
    const cancel = new AbortController();
    const cancelled = slots.take(owner('one'), cancel.signal);
    const next = slots.take(owner('one'), free);
    cancel.abort(new ContextdError('CANCELLED', 'gone'));
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    held();
    expect(await next).toBeTypeOf('function');
  });

  it('does not queue an execution that was cancelled before', async () => {
    const slots = slotsOf(1);
    await expect(
      slots.take(owner('one'), AbortSignal.abort(new ContextdError('INTERRUPTED', 'stop'))),
    ).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});

describe('NFR-1.4 the share of a session', () => {
  it('is bounded, so that a flood leaves room for others', async () => {
    const slots = slotsOf(3, 2);
    const flood = Array.from({ length: 9 }, () => slots.take(owner('flood'), free));
    await Promise.all(flood.slice(0, 2));
    expect(slots.waiting()).toBe(7);
    expect(await slots.take(owner('other'), free)).toBeTypeOf('function');
    expect(slots.waiting()).toBe(7);
  });

  it('is never more than its limit, and a free slot goes to the caller with the fewest executions, there to such a session', async () => {
    // Some sessions come again, others are new with each call.
    const owners = fc.record({
      caller: fc.constantFrom('a', 'a', 'a', 'b', 'c'),
      session: fc.integer({ min: 0, max: 30 }),
    });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ take: owners }) },
      { weight: 3, arbitrary: fc.record({ release: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
    );
    const limit = fc.integer({ min: 1, max: 6 });
    const limits = fc.record({ inAll: limit, ofCaller: limit, ofSession: limit });
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(step, { minLength: 40, maxLength: 120 }),
        async ({ inAll, ofCaller, ofSession }, steps) => {
          const slots = slotsOf(inAll, ofSession, ofCaller);
          const running: (SlotOwner & { release: () => void })[] = [];
          const waiting: (SlotOwner & { cancel: AbortController })[] = [];
          const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
          const countOf = (what: 'caller' | 'session', name: string): number =>
            running.filter((one) => one[what] === name).length;
          for (const one of steps) {
            const before = { running: [...running], waiting: [...waiting] };
            if ('take' in one) {
              const entry = {
                caller: one.take.caller,
                // Names of different callers never meet: a session has its project in its key.
                session: `${one.take.caller} ${one.take.session % 12 < 6 ? one.take.session % 3 : one.take.session}`,
                cancel: new AbortController(),
              };
              waiting.push(entry);
              const leave = (): void => void waiting.splice(waiting.indexOf(entry), 1);
              slots.take(entry, entry.cancel.signal).then((release) => {
                leave();
                running.push({ ...entry, release });
              }, leave);
            } else if ('release' in one) running.splice(one.release % (running.length || 1), 1)[0]?.release();
            else waiting[one.cancel % (waiting.length || 1)]?.cancel.abort();
            await settle();
            expect(running.length).toBeLessThanOrEqual(inAll);
            for (const { caller, session } of waiting) {
              // It waits for a reason.
              const isFull = running.length === inAll || countOf('caller', caller) === ofCaller;
              expect(isFull || countOf('session', session) === ofSession).toBe(true);
            }
            const served = running.find((entry) => !before.running.some(({ release }) => release === entry.release));
            if (served !== undefined && 'release' in one) {
              const could = before.waiting.filter(({ session }) => countOf('session', session) < ofSession);
              const fewer = could.filter(
                ({ caller }) => countOf('caller', caller) < countOf('caller', served.caller) - 1,
              );
              expect(fewer).toEqual([]);
              const beside = before.waiting.filter(({ caller }) => caller === served.caller);
              expect(
                beside.filter(({ session }) => countOf('session', session) < countOf('session', served.session) - 1),
              ).toEqual([]);
            }
            for (const { caller, session } of running) {
              expect(countOf('caller', caller)).toBeLessThanOrEqual(ofCaller);
              expect(countOf('session', session)).toBeLessThanOrEqual(ofSession);
            }
          }
        },
      ),
    );
  });

  it('is what a session that waits has fewest of: two sessions take turns', async () => {
    const slots = slotsOf(1);
    const first = await slots.take(owner('flood'), free);
    const order: string[] = [];
    const turn = async (session: string): Promise<void> => {
      const release = await slots.take(owner(session), free);
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
    const slots = createSlots(
      { max_concurrent_calls: 4, max_caller_calls: 4, max_session_calls: 2 },
      { monotonic: () => now },
    );
    for (let i = 0; i < 100; i += 1) {
      const release = await slots.take(owner('one'), free);
      now += 100;
      release();
    }
    await Promise.all([slots.take(owner('one'), free), slots.take(owner('one'), free)]);
    for (let i = 0; i < 256; i += 1) void slots.take(owner('one'), free);
    expect(slots.full(owner('other'))).toBeNull();
    const refused = await slots.take(owner('one'), free).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({
      code: 'RATE_LIMITED',
      details: { limit: 256 },
      message: expect.stringContaining('of this session'),
    });
    // 128 executions of a tenth of a second before it in each of the two slots of the session.
    expect(Object(refused).retryAfterMs).toBeGreaterThan(12_700);
    expect(Object(refused).retryAfterMs).toBeLessThanOrEqual(12_800);
    for (let i = 0; i < 258; i += 1) void slots.take(owner(i < 250 ? 'two' : 'three'), free);
    const inAll = { code: 'RATE_LIMITED', limit: 512, reason: expect.stringContaining('in all') };
    expect(slots.full(owner('two'))).toMatchObject(inAll);
    // Those who filled the queue are refused, and another caller gets its share.
    for (let i = 0; i < 16; i += 1) {
      expect(slots.full(owner('four'))).toBeNull();
      void slots.take(owner('four'), free);
    }
    expect(slots.full(owner('four'))).toMatchObject(inAll);
  });
});

describe('issue 36: a caller that names a new session with each call', () => {
  it('leaves room for another caller, and its next call runs before those that wait', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), async (inAll, ofCaller) => {
        const slots = slotsOf(inAll, inAll, ofCaller);
        const releases: (() => void)[] = [];
        for (let i = 0; i < 40; i += 1)
          void slots.take(from('flood', `new ${i}`), free).then((release) => releases.push(release));
        await Promise.resolve();
        let isServed = false;
        void slots.take(from('other', 'its own'), free).then(() => (isServed = true));
        await new Promise((resolve) => setImmediate(resolve));
        expect(isServed).toBe(ofCaller < inAll);
        // With one slot for all they take turns.
        for (let i = 0; i < (inAll === 1 ? 2 : 1); i += 1) {
          releases[i]?.();
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(isServed).toBe(true);
      }),
    );
  });

  it('is refused before the queue is full for others', () => {
    const slots = slotsOf(4, 2, 3);
    for (let i = 0; i < 3 + 384; i += 1) void slots.take(from('flood', `new ${i}`), free);
    expect(slots.full(from('flood', 'one more'))).toMatchObject({
      code: 'RATE_LIMITED',
      limit: 384,
      reason: expect.stringContaining('of this client in this project'),
      retryAfterMs: expect.any(Number),
    });
    expect(slots.full(from('other', 'one'))).toBeNull();
  });
});
