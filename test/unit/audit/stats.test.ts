import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { createAuditLog } from '#src/audit/log.js';
import { NO_END, parseRecord } from '#src/audit/record.js';
import { sumAuditLog } from '#src/audit/stats.js';
import type { StatsRow } from '#src/call/management.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { makeTempDir } from '../stores/open-stores.js';

const DAY = '2025-01-15';
const PROTO = join(import.meta.dirname, '../../../proto/contextd/v1/management.proto');

/** A record from a version that did not count tokens. */
const OLD = {
  time: `${DAY}T12:00:00.000Z`,
  request_id: 'req_1',
  session: 'a',
  project: '/p',
  door: 'grpc',
  tool: 'safe_bash',
  input: {},
  output_sha256: '00'.repeat(32),
  output_bytes: 12,
  duration_ms: 30,
  secrets_found: 1,
  secret_rules: [],
  exit_code: 0,
  error_code: null,
};
const FIRST = { ...OLD, tokens_run: 5_000, tokens_returned: 2_000, truncated: true, artifact: true, run_ms: 20 };
const FOLLOW_UP = { ...OLD, follow_up: true, tokens_returned: 1_500, duration_ms: 5 };

async function sum(records: readonly object[], maxRows?: number): Promise<StatsRow[]> {
  const dir = await makeTempDir();
  await writeFile(join(dir, `audit-${DAY}.jsonl`), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return sumAuditLog(dir, '2025-01-14', '', () => false, maxRows === undefined ? {} : { maxRows });
}

function parse(extra: object): object | null {
  return parseRecord({ bytes: Buffer.from(JSON.stringify({ ...OLD, ...extra })), isTorn: false });
}

describe('a record of the audit log', () => {
  it('keeps its token and time figures', () => {
    expect(parse(FIRST)).toEqual(FIRST);
    expect(parse({ ...FOLLOW_UP, tokens_estimated: false })).toEqual({ ...FOLLOW_UP, tokens_estimated: false });
  });

  it('keeps what was set aside, in the form of this version and of one that wrote only paths', () => {
    const now = { quarantined: [{ path: '.envrc', id: '0123abcd', reason: 'r' }], search_incomplete: true };
    for (const known of [now, { quarantined: ['.envrc'] }]) expect(parse(known)).toEqual({ ...OLD, ...known });
  });

  it.each([
    { tokens_run: '5' },
    { tokens_run: -1 },
    { tokens_returned: null },
    { run_ms: [1] },
    { scrub_ms: '7' },
    { missed_by_first_pass: {} },
    { tokens_estimated: 1 },
    { artifact: 'art_1' },
    { follow_up: 'yes' },
    { truncated: 0 },
    { quarantined: 'x' },
    { search_incomplete: 1 },
  ])('loses a field of a wrong type and nothing else: %j', (misfit) => {
    expect(parse(misfit)).toEqual(OLD);
  });

  it('loses a number that is too large', () => {
    const line = JSON.stringify({ ...OLD, tokens_run: 0 }).replace('"tokens_run":0', '"tokens_run":1e999');
    expect(parseRecord({ bytes: Buffer.from(line), isTorn: false })).toEqual(OLD);
  });
});

describe('the sums of the audit log', () => {
  it('are the rows that the protocol carries, field by field', async () => {
    const [row] = await sum([FIRST]);
    const { fields } = protobuf.loadSync(PROTO).lookupType('contextd.v1.StatsRow');
    const names = Object.keys(fields).map((name) => name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
    expect(Object.keys(row ?? {}).sort()).toEqual(names.sort());
  });

  it('count a follow-up against the saving', async () => {
    expect(await sum([FIRST, FOLLOW_UP])).toEqual([
      {
        day: DAY,
        project: '/p',
        session: 'a',
        tool: 'safe_bash',
        calls: 2,
        failed: 0,
        secrets: 2,
        missed_by_first_pass: 0,
        missed_by_engine: 0,
        duration_ms: 35,
        scrub_ms: 0,
        follow_ups: 1,
        counted_calls: 2,
        estimated_calls: 0,
        tokens_run: 5_000,
        tokens_returned: 3_500,
        tokens_saved: 1_500,
        artifacts: 1,
        truncated: 1,
        timed_calls: 2,
        added_ms: 15,
        errors: {},
        kept: 0,
        retries: 0,
      },
    ]);
  });

  it('are negative if more tokens came back than ran', async () => {
    const [row] = await sum([FIRST, FOLLOW_UP, FOLLOW_UP, FOLLOW_UP]);
    expect(row).toMatchObject({ tokens_run: 5_000, tokens_returned: 6_500, tokens_saved: -1_500 });
  });

  it('count old records as calls, but not as calls that saved nothing', async () => {
    const [row] = await sum([OLD, FIRST, { ...OLD, tokens_returned: 90 }, { ...OLD, tokens_run: 90 }]);
    expect(row).toMatchObject({
      calls: 4,
      counted_calls: 1,
      tokens_run: 5_000,
      tokens_returned: 2_000,
      timed_calls: 1,
    });
  });

  it('count estimates, and ignore the run of a follow-up', async () => {
    const [row] = await sum([
      { ...FIRST, tokens_estimated: true },
      { ...FOLLOW_UP, tokens_estimated: true, tokens_run: 900, run_ms: 4 },
    ]);
    expect(row).toMatchObject({ estimated_calls: 1, counted_calls: 2, tokens_run: 5_000, added_ms: 15 });
  });

  it('contain no negative time', async () => {
    const [row] = await sum([{ ...FIRST, duration_ms: 19.9 }]);
    expect(row).toMatchObject({ timed_calls: 1, added_ms: 0 });
  });

  it('do not count a missed secret as a call', async () => {
    const [row] = await sum([FIRST, { ...FIRST, kind: 'secret_missed', secrets_found: 3 }]);
    expect(row).toMatchObject({ calls: 1, missed_by_engine: 3, tokens_run: 5_000 });
  });

  it('miss no call if there are too many rows', async () => {
    const tools = Array.from({ length: 9 }, (_, n) => ({ ...FIRST, tool: `t${n}`, session: `s${n}` }));
    const rows = await sum([...tools, { ...FIRST, tool: '(others)' }, ...tools], 4);
    expect(rows.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['t0', 2],
      ['t1', 2],
      ['t2', 2],
      ['t3', 2],
      ['(others)', 11],
    ]);
    expect(rows.at(-1)).toMatchObject({ project: '', session: '' });
  });

  it('saved is always run minus returned', async () => {
    const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const amount = fc.oneof(fc.nat(), fc.constantFrom('1', null, -1));
    const record = fc.record({
      tokens_run: optional(amount),
      tokens_returned: optional(amount),
      follow_up: optional(fc.oneof(fc.boolean(), fc.constant('x'))),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 8 }), async (fields) => {
        const rows = await sum(fields.map((some) => ({ ...OLD, ...some })));
        expect(rows.reduce((calls, row) => calls + row.calls, 0)).toBe(fields.length);
        for (const row of rows) {
          expect(row.tokens_saved).toBe(row.tokens_run - row.tokens_returned);
          expect(row.counted_calls).toBeLessThanOrEqual(row.calls);
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('NFR-2.3 issue 36 count every call on the day that its clock showed, in order, wherever the clock jumps', async () => {
    const HOUR_MS = 3_600_000;
    const start = Date.parse(`${DAY}T12:00:00.000Z`);
    const step = fc.record({ hours: fc.integer({ min: -100, max: 100 }), tool: fc.constantFrom('a', 'b') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, days) => {
          const clock = { ms: start };
          const dir = await makeTempDir();
          const log = createAuditLog({ dir, clock: { ...systemClock, now: () => clock.ms }, logger: silentLogger });
          await log.start();
          const counts = new Map<string, number>();
          for (const [index, { hours, tool }] of steps.entries()) {
            clock.ms += hours * HOUR_MS;
            const time = new Date(clock.ms).toISOString();
            await log.append({ ...NO_END, ...OLD, time, tool, request_id: `req_${index}`, duration_ms: 0 });
            const key = `${time.slice(0, 10)} ${tool}`;
            counts.set(key, (counts.get(key) ?? 0) + 1);
          }
          const rows = await log.stats(days, '');
          await log.stop();
          const since = new Date(clock.ms - (days - 1) * 24 * HOUR_MS).toISOString().slice(0, 10);
          const expected = [...counts].filter(([key]) => key.slice(0, 10) >= since).sort();
          expect(rows.map(({ day, tool, calls }) => [`${day} ${tool}`, calls]).sort()).toEqual(expected);
          expect(rows.map(({ day }) => day)).toEqual(rows.map(({ day }) => day).sort());
        },
      ),
      { numRuns: propertyRuns('slow') },
    );
  });
});
