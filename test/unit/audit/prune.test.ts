import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyAuditLog } from '#src/audit/verify.js';
import { SegmentWriter } from '#src/audit/writer.js';
import { DAY_MS, makeTempDir } from '../stores/open-stores.js';

const START_MS = Date.UTC(2025, 0, 15, 12);
const OLD_DAY = 'audit-2024-12-24.jsonl';
const BEFORE = ['2025-01-11', '2025-01-12'].map((day) => `audit-${day}.jsonl`);

const dayOf = (day: number): string => new Date(START_MS + day * DAY_MS).toISOString().slice(0, 10);

/** A log of `days` days. `hasBefore`: with two files from before there was a chain. Each writer is closed after `use`. */
async function newLog(days: number, hasBefore: boolean) {
  const dir = join(await makeTempDir(), 'audit');
  await mkdir(dir);
  if (hasBefore) for (const name of BEFORE) await writeFile(join(dir, name), `{"from":"${name}"}\n`);
  const use = async (day: number, act: (writer: SegmentWriter) => Promise<unknown>): Promise<void> => {
    const writer = new SegmentWriter(dir, () => START_MS + day * DAY_MS);
    await writer.open();
    await act(writer);
    writer.close();
  };
  const record = (day: number) => ({ time: dayOf(day), input: `day ${day}` });
  for (let day = 0; day < days; day++) await use(day, (writer) => writer.append([record(day)], true));
  return {
    dir,
    use,
    faults: async () => (await verifyAuditLog(dir)).faults.map(({ file, what }) => `${file}: ${what}`),
  };
}

describe('what is removed because it is old', () => {
  it('SEC-5.4 leaves no room for records of before', async () => {
    const { dir, use, faults } = await newLog(3, false);
    await use(2, (writer) => writer.prune(dayOf(2)));
    expect(await faults()).toEqual([]);
    await writeFile(join(dir, OLD_DAY), '{"input":"made up"}\n');
    expect(await faults()).toEqual([expect.stringContaining(`${OLD_DAY}: was added`)]);
    // Nor does it go as old.
    await use(9, (writer) => writer.prune(dayOf(9)));
    expect(await readdir(dir)).toContain(OLD_DAY);
    expect(await faults()).toEqual([expect.stringContaining(`${OLD_DAY}: was added`)]);
  });

  it('SEC-5.4 says what is left of the files from before there was a chain', async () => {
    const { dir, use, faults } = await newLog(2, true);
    await use(2, (writer) => writer.prune('2025-01-12'));
    expect((await readdir(dir)).filter((name) => BEFORE.includes(name))).toEqual([BEFORE[1]]);
    expect(await faults()).toEqual([]);
    await writeFile(join(dir, OLD_DAY), '{"input":"made up"}\n');
    expect(await faults()).toEqual([': the records from before there was a chain are not as they were when it began']);
    await rm(join(dir, OLD_DAY));
    await appendFile(join(dir, BEFORE[1] ?? ''), '{"input":"made up"}\n');
    expect(await faults()).toHaveLength(1);
    await use(9, (writer) => writer.prune(dayOf(9)));
    expect(await readdir(dir)).toContain(BEFORE[1]);
  });

  it('SEC-5.4 is proven if the daemon dies before a removal that it has written', async () => {
    const { dir, use, faults } = await newLog(2, true);
    const [, last = ''] = BEFORE;
    const text = await readFile(join(dir, last));
    await use(2, (writer) => writer.prune('2025-01-13'));
    expect((await readdir(dir)).filter((name) => BEFORE.includes(name))).toEqual([]);
    await writeFile(join(dir, last), text);
    expect(await faults()).toEqual([]);
    await use(3, (writer) => writer.prune('2025-01-13'));
    expect(await readdir(dir)).not.toContain(last);
    await use(9, (writer) => writer.prune(dayOf(9)));
    expect(await faults()).toEqual([]);
  });

  it.each<[string, (dir: string, names: string[]) => Promise<unknown>]>([
    ['whose first line was changed', (dir, [first = '']) => changeByte(join(dir, first), 3)],
    [
      'of which the end was cut',
      async (dir, [first = '']) => truncate(join(dir, first), (await readFile(join(dir, first))).length - 9),
    ],
    ['that is gone', (dir, [first = '']) => rm(join(dir, first))],
    ['between them that is gone', (dir, [, second = '']) => rm(join(dir, second))],
    ['under another name', (dir, [first = '']) => rename(join(dir, first), join(dir, OLD_DAY))],
    ['with a record without a line end', (dir, [first = '']) => appendFile(join(dir, first), '{"a":1}')],
    ['with the beginning of a line', (dir, [first = '']) => appendFile(join(dir, first), '{"a')],
    ['that is empty', (dir, [first = '']) => writeFile(join(dir, first), '')],
  ])('SEC-5.4 is no segment %s, and none after it', async (_, tamper) => {
    const { dir, use, faults } = await newLog(4, false);
    await tamper(dir, (await readdir(dir)).sort());
    const before = (await readdir(dir)).sort();
    const found = await faults();
    expect(found).not.toEqual([]);
    await use(9, (writer) => writer.prune(dayOf(9)));
    expect(await readdir(dir)).toEqual(expect.arrayContaining(before.filter((name) => !name.includes(dayOf(0)))));
    expect(await faults()).toEqual(expect.arrayContaining(found.slice(0, 1)));
  });

  it('SEC-5.4 is not what only a line without proof says', async () => {
    const { dir, use } = await newLog(5, false);
    await use(4, (writer) => writer.prune(dayOf(1)));
    await rm(join(dir, `audit-${dayOf(1)}.jsonl`));
    const forged = `{"pruned":{"names":[],"seq":99},"time":"x","seq":100,"mac":"${'A'.repeat(43)}"}\n`;
    await appendFile(join(dir, `audit-${dayOf(4)}.jsonl`), forged);
    await use(9, (writer) => writer.prune(dayOf(9)));
    expect(await readdir(dir)).toContain(`audit-${dayOf(2)}.jsonl`);
  });

  it('SEC-5.4 goes on after what an earlier removal took, over restarts', async () => {
    const { dir, use, faults } = await newLog(3, true);
    for (let day = 3; day < 8; day++) {
      await use(day, async (writer) => {
        await writer.append([{ time: dayOf(day), input: 'x' }], true);
        await writer.prune(dayOf(day - 1));
      });
      expect(await faults()).toEqual([]);
      expect((await readdir(dir)).sort()).toEqual([`audit-${dayOf(day - 1)}.jsonl`, `audit-${dayOf(day)}.jsonl`]);
    }
  });
});

describe('a log of which an earlier version removed a part', () => {
  /** As it did: only names and the last line. */
  const removeAsBefore = async (
    log: Awaited<ReturnType<typeof newLog>>,
    names: string[],
    seq: number,
  ): Promise<void> => {
    await log.use(3, (writer) => writer.append([{ pruned: { names, seq }, time: dayOf(3) }], true));
    for (const name of names) await rm(join(log.dir, name));
  };

  it('SEC-5.4 is as it was written if nothing of before is left, and shows what is added', async () => {
    for (const names of [BEFORE, [...BEFORE, `audit-${dayOf(0)}.jsonl`]]) {
      const log = await newLog(3, true);
      await removeAsBefore(log, names, names.length > 2 ? 3 : 0);
      expect(await log.faults()).toEqual([]);
      await writeFile(join(log.dir, OLD_DAY), '{"input":"made up"}\n');
      expect(await log.faults()).toHaveLength(1);
    }
  });

  it('SEC-5.4 cannot prove the records of before that are left, says so, and removes them when they are old', async () => {
    const log = await newLog(3, true);
    await removeAsBefore(log, BEFORE.slice(0, 1), 0);
    expect(await log.faults()).toEqual([expect.stringContaining('an earlier version of contextd removed a part')]);
    await writeFile(join(log.dir, 'audit-2025-01-14.jsonl'), '{"from":"2025-01-14"}\n');
    await log.use(3, (writer) => writer.prune('2025-01-13'));
    expect(await log.faults()).toEqual([expect.stringContaining('an earlier version of contextd removed a part')]);
    await log.use(3, (writer) => writer.prune(dayOf(3)));
    expect(await readdir(log.dir)).toEqual([`audit-${dayOf(3)}.jsonl`]);
    expect(await log.faults()).toEqual([]);
  });
});

async function changeByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at] = 0x20;
  await writeFile(path, bytes);
}
