import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Announcements } from '#src/protocol/plugin/announcements.js';

const TIMEOUT_MS = 5_000;
const announce = (service_id: number) => ({ service_id, network: 'unix', address: `/s/${service_id}`, knock: null });

describe('numbers of the broker', () => {
  let announcements: Announcements;

  beforeEach(() => {
    vi.useFakeTimers();
    announcements = new Announcements(TIMEOUT_MS);
  });

  afterEach(() => {
    announcements.close(new Error('over'));
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('are matched whichever side comes first', async () => {
    announcements.receive(announce(1));
    await expect(announcements.take(1)).resolves.toEqual(announce(1));
    const second = announcements.take(2);
    announcements.receive(announce(2));
    await expect(second).resolves.toEqual(announce(2));
  });

  it('are given out once', async () => {
    announcements.receive(announce(1));
    await announcements.take(1);
    const again = expect(announcements.take(1)).rejects.toThrow('not announced within 5000 ms');
    vi.advanceTimersByTime(TIMEOUT_MS);
    await again;
  });

  it('are forgotten if nobody asks in time', async () => {
    announcements.receive(announce(1));
    vi.advanceTimersByTime(TIMEOUT_MS);
    const late = expect(announcements.take(1)).rejects.toThrow('not announced');
    vi.advanceTimersByTime(TIMEOUT_MS);
    await late;
  });

  it('cannot be asked for twice at the same time', async () => {
    const first = announcements.take(1);
    await expect(announcements.take(1)).rejects.toThrow('already being dialled');
    announcements.receive(announce(1));
    await expect(first).resolves.toEqual(announce(1));
  });

  it('do not come from a knock, which is for multiplexing', async () => {
    announcements.receive({ ...announce(1), knock: {} });
    const none = expect(announcements.take(1)).rejects.toThrow('not announced');
    vi.advanceTimersByTime(TIMEOUT_MS);
    await none;
  });

  it('are limited while nobody asks for them', async () => {
    for (let id = 1; id <= 1_000; id += 1) announcements.receive(announce(id));
    expect(vi.getTimerCount()).toBe(64);
    await expect(announcements.take(64)).resolves.toEqual(announce(64));
    const dropped = expect(announcements.take(65)).rejects.toThrow('not announced');
    vi.advanceTimersByTime(TIMEOUT_MS);
    await dropped;
  });

  it('take no more room if announced repeatedly', () => {
    for (let times = 0; times < 1_000; times += 1) announcements.receive(announce(1));
    expect(vi.getTimerCount()).toBe(1);
  });

  it('fail with one reason once the connection is closed', async () => {
    const waiting = expect(announcements.take(1)).rejects.toThrow('gone');
    announcements.close(new Error('gone'));
    await waiting;
    await expect(announcements.take(2)).rejects.toThrow('gone');
  });
});
