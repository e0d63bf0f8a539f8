import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { createSlots } from '#src/dispatch/slots.js';

const free = new AbortController().signal;

describe('NFR-1.4 the limit on concurrent executions', () => {
  it('makes further executions wait in order', async () => {
    const slots = createSlots(2);
    const first = await slots.take(free);
    await slots.take(free);
    const order: string[] = [];
    const third = slots.take(free).then((giveBack) => {
      order.push('third');
      return giveBack;
    });
    const fourth = slots.take(free).then(() => order.push('fourth'));
    expect(slots.waiting()).toBe(2);
    first();
    first();
    (await third)();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
    expect(slots.waiting()).toBe(0);
  });

  it('gives a freed slot to the waiting execution, and no other gets it first', async () => {
    const slots = createSlots(1);
    const held = await slots.take(free);
    const order: string[] = [];
    const waiting = slots.take(free).then((giveBack) => {
      order.push('waiting');
      return giveBack;
    });
    held();
    const late = slots.take(free).then(() => order.push('late'));
    expect(slots.waiting()).toBe(1);
    (await waiting)();
    await late;
    expect(order).toEqual(['waiting', 'late']);
  });

  it('removes an execution that is cancelled while it waits, and gives the slot to the next', async () => {
    const slots = createSlots(1);
    const held = await slots.take(free);
    const cancel = new AbortController();
    const cancelled = slots.take(cancel.signal);
    const next = slots.take(free);
    cancel.abort(new ContextdError('CANCELLED', 'gone'));
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    held();
    expect(await next).toBeTypeOf('function');
  });

  it('does not queue an execution that was cancelled before', async () => {
    const slots = createSlots(1);
    await expect(slots.take(AbortSignal.abort(new ContextdError('INTERRUPTED', 'stop')))).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});
