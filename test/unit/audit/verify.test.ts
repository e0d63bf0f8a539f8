import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Link } from '#src/audit/chain.js';
import { type AuditLog, createAuditLog } from '#src/audit/log.js';
import { type AuditRecord, NO_END } from '#src/audit/record.js';
import { verifyAuditLog } from '#src/audit/verify.js';
import { SegmentWriter } from '#src/audit/writer.js';
import { silentLogger } from '#src/core/log.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { DAY_MS, makeTempDir, TestClock } from '../stores/open-stores.js';

const START_MS = Date.UTC(2025, 0, 15, 12);
/** Bytes of a segment: about ten lines. */
const SMALL = 2_000;

/** What happens to a log that nobody tampers with. */
type Step =
  | { readonly kind: 'write'; readonly texts: readonly string[]; readonly isDurable: boolean }
  | { readonly kind: 'restart' | 'kill' | 'next day' | 'clock back' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      texts: fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1, maxLength: 4 }),
      isDurable: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('restart' as const, 'kill' as const, 'next day' as const, 'clock back' as const),
    }),
  },
);

interface Written {
  dir: string;
  nowMs: number;
  records: number;
}

/** Writes a log of at least one record. */
async function write(steps: readonly Step[], at: Written): Promise<void> {
  const open = async (): Promise<SegmentWriter> => {
    const opened = new SegmentWriter(at.dir, () => at.nowMs, SMALL);
    await opened.open();
    return opened;
  };
  let writer = await open();
  const record = async (texts: readonly string[], isDurable: boolean): Promise<void> => {
    const lines = texts.map((text) => ({ time: new Date(at.nowMs).toISOString(), input: text }));
    await writer.append(lines, isDurable);
    at.records += texts.length;
  };
  for (const step of steps) {
    if (step.kind === 'write') await record(step.texts, step.isDurable);
    else if (step.kind === 'next day') at.nowMs += DAY_MS;
    else if (step.kind === 'clock back') at.nowMs -= 2 * DAY_MS;
    else {
      if (step.kind === 'restart') writer.close();
      else writer.drop();
      writer = await open();
    }
  }
  await record(['last'], true);
  writer.close();
}

/** `unchained`: lines of a file from before there was a chain. */
async function newLog(steps: readonly Step[], unchained: number): Promise<Written> {
  const at = { dir: join(await makeTempDir(), 'audit'), nowMs: START_MS, records: 0 };
  await mkdir(at.dir);
  const day = unchained % 2 === 0 ? '2025-01-15' : '2025-01-14';
  if (unchained > 0)
    await writeFile(
      join(at.dir, `audit-${day}.jsonl`),
      Array.from({ length: unchained }, (_, n) => `{"time":"2025-01-14","n":${n}}\n`).join(''),
    );
  await write(steps, at);
  return at;
}

/** Something that a person without the key does to the files. Numbers choose a place. */
interface Tampering {
  readonly kind: keyof typeof TAMPERINGS;
  readonly place: number;
  readonly other: number;
}

interface Files {
  dir: string;
  names: readonly string[];
}

const TAMPERINGS = {
  async 'changes a byte'({ dir, names }: Files, { place, other }: Tampering): Promise<void> {
    const path = join(dir, pick(names, other));
    const bytes = await readFile(path);
    const at = place % bytes.length;
    bytes[at] = ((bytes[at] ?? 0) + 1 + (other % 250)) % 256;
    await writeFile(path, bytes);
  },
  'removes lines': (files, { place, other }) =>
    onLines(files, other, (lines) => lines.toSpliced(place % lines.length, 1 + (other % 3))),
  'writes a line twice': (files, { place, other }) =>
    onLines(files, other, (lines) => lines.toSpliced(place % (lines.length + 1), 0, pick(lines, other))),
  'moves a line': (files, { place, other }) =>
    onLines(files, other, (lines) => {
      if (lines.length < 2) return [...lines, ...lines];
      const at = place % lines.length;
      const rest = lines.toSpliced(at, 1);
      return rest.toSpliced((at + 1 + (other % (lines.length - 1))) % lines.length, 0, lines[at] ?? '');
    }),
  'adds a line of its own': (files, { place, other }) =>
    onLines(files, other, (lines) =>
      lines.toSpliced(place % (lines.length + 1), 0, '{"time":"2025-01-15T12:00:00.000Z","input":"made up"}'),
    ),
  async 'cuts the tail'({ dir, names }: Files, { place }: Tampering): Promise<void> {
    const path = join(dir, names.at(-1) ?? '');
    const { length } = await readFile(path);
    await truncate(path, length - 1 - (place % length));
  },
  'removes a file': ({ dir, names }, { place }) => rm(join(dir, pick(names, place))),
  async 'swaps two files, or names one otherwise'({ dir, names }: Files, { place, other }: Tampering): Promise<void> {
    const [a, b] = [pick(names, place), pick(names, place + 1 + (other % Math.max(1, names.length - 1)))];
    const moved = join(dir, 'audit-2024-12-31.jsonl');
    await rename(join(dir, a), moved);
    if (a === b) return appendFile(moved, '\n');
    await rename(join(dir, b), join(dir, a));
    await rename(moved, join(dir, b));
  },
  'removes the head': ({ dir }) => rm(join(dir, '..', 'audit.head')),
  async 'changes the head'({ dir }: Files, { place }: Tampering): Promise<void> {
    const path = join(dir, '..', 'audit.head');
    const text = await readFile(path, 'utf8');
    const at = place % text.indexOf('\n');
    await writeFile(path, `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`);
  },
  async 'removes all of it but the key'({ dir, names }: Files): Promise<void> {
    for (const name of names) await rm(join(dir, name));
    await rm(join(dir, '..', 'audit.head'));
  },
  'removes the key': ({ dir }) => rm(join(dir, '..', 'audit.key')),
  async 'writes it again with another key'({ dir, names }: Files): Promise<void> {
    const own = join(await makeTempDir(), 'audit');
    const writer = new SegmentWriter(own, () => START_MS, SMALL);
    await writer.open();
    await writer.append([{ time: new Date(START_MS).toISOString(), input: 'made up' }], true);
    writer.close();
    for (const name of names) await rm(join(dir, name));
    for (const name of await readdir(own)) await writeFile(join(dir, name), await readFile(join(own, name)));
  },
} as const satisfies Record<string, (files: Files, how: Tampering) => Promise<void>>;

function pick<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

async function onLines({ dir, names }: Files, number: number, change: (lines: string[]) => string[]): Promise<void> {
  const path = join(dir, pick(names, number));
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  await writeFile(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

const STEPS = fc.array(STEP, { maxLength: 20 });
const UNCHAINED = fc.nat({ max: 3 });
const TAMPERING: fc.Arbitrary<Tampering> = fc.record({
  kind: fc.constantFrom(...(Object.keys(TAMPERINGS) as (keyof typeof TAMPERINGS)[])),
  place: fc.nat(),
  other: fc.nat(),
});

describe('the verification of the audit log', () => {
  it('SEC-5.4 finds nothing in a log that was only written, over days, restarts, deaths and a clock that goes back', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, UNCHAINED, async (steps, unchained) => {
        const { dir, records } = await newLog(steps, unchained);
        const report = await verifyAuditLog(dir);
        expect(report).toMatchObject({ faults: [], records, unchained, since: new Date(START_MS).toISOString() });
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('SEC-5.4 finds nothing in a log whose clock went back over midnight, also after a restart', async () => {
    const day = { kind: 'next day' } as const;
    const back = { kind: 'clock back' } as const;
    const line = { kind: 'write', texts: ['one'], isDurable: true } as const;
    const { dir, records } = await newLog([line, day, line, back, line, { kind: 'restart' }, line, day, line], 0);
    expect(await verifyAuditLog(dir)).toMatchObject({ faults: [], records });
    expect((await readdir(dir)).sort()).toEqual(['audit-2025-01-15.jsonl', 'audit-2025-01-16.jsonl']);
  });

  it('SEC-5.4 finds whatever a person without the key changes, removes, adds, moves or cuts', async () => {
    await fc.assert(
      fc.asyncProperty(
        STEPS,
        UNCHAINED,
        TAMPERING,
        fc.boolean(),
        STEPS,
        async (steps, unchained, how, goesOn, later) => {
          const at = await newLog(steps, unchained);
          const names = (await readdir(at.dir)).sort();
          await TAMPERINGS[how.kind]({ dir: at.dir, names }, how);
          if (goesOn) await write(later, at);
          const { faults } = await verifyAuditLog(at.dir);
          expect(faults.map(({ what }) => what)).not.toEqual([]);
        },
      ),
    );
  });

  it('SEC-5.4 knows what was removed because it was old, and only that', async () => {
    const dir = join(await makeTempDir(), 'audit');
    const clock = new TestClock();
    const open = async (keepDays: number): Promise<AuditLog> => {
      const log = createAuditLog({ dir, clock, logger: silentLogger, keepDays });
      await log.start();
      return log;
    };
    const all = await open(0);
    for (let day = 0; day < 4; day++) {
      await all.append(recordOf(`day ${day}`));
      clock.nowMs += DAY_MS;
    }
    await all.stop();
    const newest = await open(2);
    await newest.append(recordOf('day 4'));
    await newest.stop();
    expect((await readdir(dir)).sort()).toEqual(['audit-2025-01-18.jsonl', 'audit-2025-01-19.jsonl']);
    expect(await verifyAuditLog(dir)).toMatchObject({ faults: [], records: 2, segments: 2 });
    await rm(join(dir, 'audit-2025-01-18.jsonl'));
    expect((await verifyAuditLog(dir)).faults).toMatchObject([{ file: 'audit-2025-01-19.jsonl' }]);
  });

  it.each([
    [
      'a forged file of an old day',
      (dir: string) => {
        const mac = 'A'.repeat(43);
        const start = `{"segment":1,"started":"2020-01-01T00:00:00.000Z","previous":"","seq":1,"mac":"${mac}"}`;
        return writeFile(
          join(dir, 'audit-2020-01-01.jsonl'),
          `${start}\n{"x":1,"seq":${Number.MAX_SAFE_INTEGER},"mac":"${mac}"}\n`,
        );
      },
    ],
    [
      'a segment under the name of an old day',
      (dir: string) => rename(join(dir, 'audit-2025-01-16.jsonl'), join(dir, 'audit-2020-01-01.jsonl')),
    ],
    ['a directory with the name of a segment', (dir: string) => mkdir(join(dir, 'audit-2020-01-01.jsonl'))],
  ])('SEC-5.4 does not remove %s as old, and reports it', async (_what, tamper) => {
    const dir = join(await makeTempDir(), 'audit');
    const clock = new TestClock();
    for (const keepDays of [0, 30]) {
      const log = createAuditLog({ dir, clock, logger: silentLogger, keepDays });
      await log.start();
      for (let day = 0; day < 3; day++) {
        await log.append(recordOf(`day ${day}`));
        clock.nowMs += DAY_MS;
      }
      await log.stop();
      if (keepDays === 0) await tamper(dir);
    }
    expect(await readdir(dir)).toContain('audit-2020-01-01.jsonl');
    const { faults } = await verifyAuditLog(dir);
    expect(faults.map(({ file }) => file)).toContain('audit-2020-01-01.jsonl');
    // Nothing in the log excuses that they are gone.
    await rm(join(dir, 'audit-2020-01-01.jsonl'), { recursive: true });
    await rm(join(dir, 'audit-2025-01-15.jsonl'));
    expect((await verifyAuditLog(dir)).faults.map(({ what }) => what).join()).toContain('missing');
  });

  it('SEC-5.4 goes on in a segment that was replaced by a copy, and not in one that something was added to', async () => {
    const dir = join(await makeTempDir(), 'audit');
    const log = createAuditLog({ dir, clock: new TestClock(), logger: silentLogger });
    await log.start();
    await log.append(recordOf('first'));
    const segment = join(dir, 'audit-2025-01-15.jsonl');
    const text = await readFile(segment, 'utf8');
    await rm(segment);
    await writeFile(segment, text);
    await log.append(recordOf('second'));
    expect(await verifyAuditLog(dir)).toMatchObject({ faults: [], records: 2, segments: 1 });
    await appendFile(segment, 'x');
    await log.append(recordOf('third'));
    await log.stop();
    const { faults, records } = await verifyAuditLog(dir);
    expect(records).toBe(3);
    expect(faults).not.toEqual([]);
  });

  it('SEC-5.4 finds with a head kept elsewhere that a log was written again by the owner of the key', async () => {
    const dir = join(await makeTempDir(), 'audit');
    const write = async (input: string): Promise<Link> => {
      const log = createAuditLog({ dir, clock: new TestClock(), logger: silentLogger });
      await log.start();
      await log.append(recordOf(input));
      await log.stop();
      const { head } = await verifyAuditLog(dir);
      if (head === null) throw new Error('the log has no head');
      return head;
    };
    const kept = { ...(await write('what happened')), from: 'heads.jsonl' };
    expect((await verifyAuditLog(dir, [kept])).faults).toEqual([]);
    await rm(dir, { recursive: true });
    const key = await readFile(join(dir, '..', 'audit.key'));
    await rm(join(dir, '..', 'audit.key'));
    await rm(join(dir, '..', 'audit.head'));
    await write('what did not happen');
    expect((await verifyAuditLog(dir)).faults).toEqual([]);
    expect(await readFile(join(dir, '..', 'audit.key'))).not.toEqual(key);
    const { faults } = await verifyAuditLog(dir, [kept]);
    expect(faults).toMatchObject([{ line: 2, what: expect.stringContaining('the log was written again') }]);
  });
});

function recordOf(input: string): AuditRecord {
  const call = { request_id: `req_${input}`, session: 's', project: '/p', door: 'grpc', tool: 'safe_bash', input };
  return { time: '2025-01-15T12:00:00.000Z', ...call, ...NO_END };
}
