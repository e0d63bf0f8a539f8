import { describe, expect, it } from 'vitest';
import { ContextdError, type ErrorCode } from '#src/core/errors.js';
import { attempted } from '#src/features/execution/retry.js';

const SETTINGS: Parameters<typeof attempted>[1] = {
  max_attempts: 3,
  base_delay_ms: 100,
  max_delay_ms: 150,
  jitter: false,
  codes: ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE'],
};

/** Work that fails with each of the codes in turn, and then succeeds. */
async function run(
  codes: readonly ErrorCode[],
  settings: Partial<typeof SETTINGS> = {},
  own: { endsAt?: number; random?: number } = {},
) {
  const [waits, left] = [[] as number[], [...codes]];
  const ended = { count: 0 };
  const end = new AbortController();
  const result = await attempted(
    {
      async start() {
        const code = left.shift();
        if (code !== undefined) throw new ContextdError(code, 'no', { details: { host: 'h' } });
        return 'done';
      },
      end: () => {
        ended.count += 1;
      },
      signal: end.signal,
      endsAt: own.endsAt ?? 10_000,
    },
    { ...SETTINGS, ...settings },
    {
      clock: { monotonic: () => waits.reduce((sum, ms) => sum + ms, 0) },
      timer: {
        after(ms, wake) {
          waits.push(ms);
          queueMicrotask(wake);
          return () => {};
        },
      },
      random: () => own.random ?? 0,
    },
  ).catch((thrown: unknown) => thrown);
  return { result, waits, ended: ended.count, left };
}

describe('gateway surface §4.5: a failure on the way to a server', () => {
  it('is tried again with growing waits up to the limit, and the number of attempts is known', async () => {
    const { result, waits, ended } = await run(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE']);
    expect(result).toEqual({ value: 'done', attempts: 3 });
    expect(waits).toEqual([100, 150]);
    expect(ended).toBe(1);
  });

  it('fails after the last attempt, and says how many there were', async () => {
    const { result, left } = await run(Array<ErrorCode>(5).fill('UPSTREAM_TIMEOUT'));
    expect(result).toMatchObject({ code: 'UPSTREAM_TIMEOUT', details: { host: 'h', attempts: 3 } });
    expect(left).toHaveLength(2);
  });

  it.each<[ErrorCode]>([['UPSTREAM_ERROR'], ['PERMISSION_DENIED'], ['AUTH_FAILED'], ['RATE_LIMITED'], ['CANCELLED']])(
    'is not tried again if it is %s',
    async (code) => {
      const { result, waits } = await run([code]);
      expect(result).toMatchObject({ code, details: { host: 'h' } });
      expect(waits).toEqual([]);
    },
  );

  it('is not tried again with the standard settings, nor after the time of the call', async () => {
    expect((await run(['UPSTREAM_TIMEOUT'], { max_attempts: 1 })).result).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect((await run(['UPSTREAM_TIMEOUT'], {}, { endsAt: 100 })).waits).toEqual([]);
  });

  it('waits between half of the time and all of it with jitter', async () => {
    expect((await run(['UPSTREAM_TIMEOUT'], { jitter: true }, { random: 0 })).waits).toEqual([50]);
    expect((await run(['UPSTREAM_TIMEOUT'], { jitter: true }, { random: 1 })).waits).toEqual([100]);
  });
});
