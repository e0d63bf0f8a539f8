import { describe, expect, it } from 'vitest';
import { type Part, startParts, stopParts } from '#src/core/lifecycle.js';
import { silentLogger } from '#src/core/log.js';

function recorder() {
  const log: string[] = [];
  const part = (name: string, faults: { start?: Error; stop?: Promise<void> } = {}): Part => ({
    name,
    async start() {
      log.push(`start ${name}`);
      if (faults.start) throw faults.start;
    },
    async stop() {
      log.push(`stop ${name}`);
      await faults.stop;
    },
  });
  return { log, part };
}

/** A logger that keeps the names of its events. */
function listening() {
  const events: string[] = [];
  const keep = (event: string, fields: object = {}) => events.push(`${event} ${JSON.stringify(fields)}`);
  return { events, logger: { ...silentLogger, error: keep } };
}

describe('parts', () => {
  it('start in order and stop in reverse', async () => {
    const { log, part } = recorder();
    const parts = [part('a'), part('b'), part('c')];
    await startParts(parts, silentLogger);
    await stopParts(parts, silentLogger);
    expect(log).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stop if they were started and another fails to start, and the error is kept', async () => {
    const { log, part } = recorder();
    const fault = new Error('no');
    await expect(startParts([part('a'), part('b', { start: fault }), part('c')], silentLogger)).rejects.toBe(fault);
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('stop even if an earlier part fails to stop', async () => {
    const { log, part } = recorder();
    const { events, logger } = listening();
    await stopParts([part('a'), part('b', { stop: Promise.reject(new Error('stuck')) }), part('c')], logger);
    expect(log).toEqual(['stop c', 'stop b', 'stop a']);
    expect(events).toEqual(['part.stop_failed {"part":"b"}']);
  });

  it('stop even if an earlier part throws at once', async () => {
    const { log, part } = recorder();
    const { events, logger } = listening();
    const rash: Part = {
      name: 'rash',
      start: async () => {},
      stop: () => {
        throw new Error('at once');
      },
    };
    await stopParts([part('a'), rash], logger);
    expect(log).toEqual(['stop a']);
    expect(events).toEqual(['part.stop_failed {"part":"rash"}']);
  });

  it('stop even if an earlier part never stops', async () => {
    const { log, part } = recorder();
    const { events, logger } = listening();
    await stopParts([part('a'), part('b', { stop: new Promise(() => {}) })], logger, 1);
    expect(log).toEqual(['stop b', 'stop a']);
    expect(events).toEqual(['part.stop_overdue {"part":"b","deadline_ms":1}']);
  });
});
