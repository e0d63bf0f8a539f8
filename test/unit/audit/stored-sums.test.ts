import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumAuditLog } from '#src/audit/stats.js';
import { StoredSums } from '#src/audit/stored-sums.js';
import { makeTempDir } from '../stores/open-stores.js';

const DAYS = ['2025-01-14', '2025-01-15'];
/** Some calls are of the day before. */
const SINCE = '2025-01-14';
const RECORD = {
  session: 'a',
  door: 'grpc',
  input: 'x'.repeat(200),
  output_sha256: '',
  output_bytes: 12,
  duration_ms: 30,
  secrets_found: 1,
  secret_rules: [],
  exit_code: 0,
};

/** A line of the log: a call that begins, ends, or was refused. */
const line = fc.record({
  kind: fc.constantFrom('started', 'end', 'refused'),
  id: fc.nat(6),
  // The clock may go back by days.
  time: fc.constantFrom('2025-01-13T12:00:00.000Z', '2025-01-14T23:59:59.990Z', '2025-01-15T12:00:00.000Z'),
  project: fc.constantFrom('/p', '/q'),
  tool: fc.constantFrom('safe_bash', 'safe_read'),
  error: fc.constantFrom(null, 'TIMEOUT'),
});

type Line = typeof line extends fc.Arbitrary<infer T> ? T : never;

function textOf({
  kind,
  id,
  project,
  tool,
  error,
  time = '2025-01-15T12:00:00.000Z',
}: Omit<Line, 'time'> & Partial<Line>): string {
  const more = kind === 'started' ? { kind } : kind === 'end' ? { began: true } : {};
  const record = { ...RECORD, time, request_id: `req_${id}`, project, tool, error_code: error, ...more };
  return `${JSON.stringify(record)}\n`;
}

async function newLog(): Promise<{ dir: string; sums: string }> {
  const home = await makeTempDir();
  const dir = join(home, 'audit');
  await mkdir(dir);
  return { dir, sums: join(home, 'audit-sums') };
}

const isLost = ({ request_id }: { request_id: string }): boolean => request_id === 'req_1';

describe('the stored sums of the audit log', () => {
  it('NFR-2.3 are those of the whole log, however it grew and was asked, with torn lines too', async () => {
    const growth = fc.array(fc.record({ day: fc.constantFrom(...DAYS), lines: fc.array(line), isTorn: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(growth, fc.constantFrom(1, 500, 5_000), async (steps, unstored) => {
        const { dir } = await newLog();
        const torn = new Map<string, string>();
        for (const { day, lines, isTorn } of steps) {
          const text = lines.map(textOf).join('');
          const cut = isTorn ? text.length - 20 : text.length;
          const before = torn.get(day) ?? '';
          torn.set(day, text.slice(Math.max(0, cut)));
          await appendFile(join(dir, `audit-${day}.jsonl`), before + text.slice(0, Math.max(0, cut)));
          for (const project of ['', '/p']) {
            const { of: sumsOf } = new StoredSums(dir, unstored);
            expect(await sumAuditLog(dir, SINCE, project, isLost, { sumsOf })).toEqual(
              await sumAuditLog(dir, SINCE, project, isLost),
            );
          }
        }
      }),
    );
  });

  it('NFR-2.3 do not read again what was summed up, except in a file that took the place of the segment', async () => {
    const { dir, sums } = await newLog();
    const file = join(dir, `audit-${DAYS[1]}.jsonl`);
    const call = { kind: 'refused', id: 1, project: '/p', tool: 'safe_bash', error: null } as const;
    await writeFile(file, textOf(call).repeat(3));
    const calls = async () => {
      const { of: sumsOf } = new StoredSums(dir, 1);
      return (await sumAuditLog(dir, SINCE, '', isLost, { sumsOf })).map((row) => [row.tool, row.calls]);
    };
    expect(await calls()).toEqual([['safe_bash', 3]]);
    expect((await stat(join(sums, `audit-${DAYS[1]}.jsonl.json`))).mode & 0o777).toBe(0o600);
    // Only a new reading of the first line would see this.
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('safe_bash', 'safe_fish'));
    expect(await calls()).toEqual([['safe_bash', 3]]);
    await appendFile(file, textOf(call));
    expect(await calls()).toEqual([['safe_bash', 4]]);
    await writeFile(file, textOf({ ...call, tool: 'safe_read', error: 'TIMEOUT' }).repeat(9));
    expect(await calls()).toEqual([['safe_read', 9]]);
    for (const damage of ['', '{', '{"format":"other"}', 'null']) {
      await writeFile(join(sums, `audit-${DAYS[1]}.jsonl.json`), damage);
      expect(await calls()).toEqual([['safe_read', 9]]);
    }
  });

  it('NFR-2.3 go with their segments, and are not needed for an answer', async () => {
    const { dir, sums } = await newLog();
    const text = textOf({ kind: 'refused', id: 1, project: '/p', tool: 'safe_bash', error: null });
    await mkdir(sums);
    await writeFile(join(sums, 'audit-2020-01-01.jsonl.json'), '{}');
    await writeFile(join(dir, `audit-${DAYS[0]}.jsonl`), text);
    const ask = () => sumAuditLog(dir, SINCE, '', isLost, { sumsOf: new StoredSums(dir, 1).of });
    expect(await ask()).toHaveLength(1);
    expect(await readdir(sums)).toEqual([`audit-${DAYS[0]}.jsonl.json`]);
    const blocked = await newLog();
    await writeFile(blocked.sums, 'a file where the folder would be');
    await writeFile(join(blocked.dir, `audit-${DAYS[0]}.jsonl`), text);
    expect(
      await sumAuditLog(blocked.dir, SINCE, '', isLost, { sumsOf: new StoredSums(blocked.dir, 1).of }),
    ).toHaveLength(1);
  });
});
