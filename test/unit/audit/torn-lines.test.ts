import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AuditLog, createAuditLog, PERSON_DOOR } from '#src/audit/log.js';
import { hashOfListing, type LogListing, RESTORE_ACT, verifyOtherLog, writeListing } from '#src/audit/other-log.js';
import { type AuditRecord, NO_END } from '#src/audit/record.js';
import { RecordReader } from '#src/audit/record-reader.js';
import { readAuditLog, searchAuditLog } from '#src/audit/select.js';
import { sumAuditLog } from '#src/audit/stats.js';
import { StoredSums } from '#src/audit/stored-sums.js';
import { verifyAuditLog, verifyNewest } from '#src/audit/verify.js';
import { silentLogger } from '#src/core/log.js';
import { makeTempDir, TestClock } from '../stores/open-stores.js';

const DAY = '2025-01-15';
const SEGMENT = `audit-${DAY}.jsonl`;

function recordOf(request_id: string, more: Partial<AuditRecord> = {}): AuditRecord {
  const call = { request_id, session: 's', project: '/p', door: 'grpc', tool: 'safe_bash', input: request_id };
  return { ...NO_END, time: `${DAY}T12:00:00.000Z`, ...call, ...more };
}

async function openLog(dir: string): Promise<AuditLog> {
  const log = createAuditLog({ dir, clock: new TestClock(), logger: silentLogger });
  await log.start();
  return log;
}

/** A log with one record, and what a program without the key appended to it while no daemon ran. */
async function logWith(appended: string): Promise<string> {
  const dir = join(await makeTempDir(), 'audit');
  const log = await openLog(dir);
  await log.begin(recordOf('open'));
  await log.append(recordOf('true'));
  await log.stop();
  await appendFile(join(dir, SEGMENT), appended);
  return dir;
}

const FORGED = JSON.stringify(recordOf('made up'));

/** Each reader of the log, as the request ids or the number of calls that it finds. */
const READERS: Record<string, (dir: string, log: AuditLog) => Promise<readonly (string | number)[]>> = {
  tail: async (_, log) => (await log.tail(9)).map((one) => one.request_id),
  'tail of a project': async (_, log) => (await log.tail(9, '/p')).map((one) => one.request_id),
  search: async (dir) => (await searchAuditLog(dir, {}, 9, new RecordReader())).map(({ record }) => record.request_id),
  async export(dir) {
    const ids: string[] = [];
    for await (const { record } of readAuditLog(dir, {}, new RecordReader())) ids.push(record.request_id);
    return ids;
  },
  'find by session': async (_, log) => (await log.find('/p', { session: '' })).map((one) => one.request_id),
  'find by id': async (_, log) =>
    (await log.find('/p', { requestIds: ['true', 'made up'] })).map((one) => one.request_id),
  stats: async (_, log) => (await log.stats(1, '')).map(({ calls }) => calls),
  'sums that are not stored': async (dir) => (await sumAuditLog(dir, DAY, '', () => true)).map(({ calls }) => calls),
  'sums that are stored': async (dir) =>
    (await sumAuditLog(dir, DAY, '', () => true, { sumsOf: new StoredSums(dir, 1).of })).map(({ calls }) => calls),
};

describe('a line without its newline', () => {
  it.each(Object.keys(READERS))('SEC-5.4 is no record for %s', async (name) => {
    const dir = await logWith(FORGED);
    const log = await openLog(dir);
    const found = (await READERS[name]?.(dir, log)) ?? [];
    await log.stop();
    expect(found).not.toContain('made up');
    // Of the two calls on record, or of their ids.
    expect(found).toContain(typeof found[0] === 'number' ? 2 : 'true');
    if (typeof found[0] === 'number') expect(found).toHaveLength(1);
  });

  it('SEC-5.4 counts as a line that could not be read', async () => {
    const reader = new RecordReader();
    await searchAuditLog(await logWith(FORGED), {}, 9, reader);
    expect(reader.unreadable).toBe(1);
  });

  it('SEC-5.4 does not end a call for the daemon that starts', async () => {
    const dir = await logWith(JSON.stringify(recordOf('open', { began: true, exit_code: 0 })));
    const log = await openLog(dir);
    const call = {
      requestId: 'open',
      tool: 'safe_bash',
      project: '/p',
      session: 's',
      startedMs: Date.UTC(2025, 0, 15),
    };
    const ends = await log.endInterrupted([call], (text) => text);
    await log.stop();
    expect(ends).toMatchObject([{ request_id: 'open', error_code: 'INTERRUPTED' }]);
  });

  it.each([
    ['a whole record', FORGED],
    ['a record with a code that was made up', `${FORGED.slice(0, -1)},"seq":4,"mac":"${'A'.repeat(43)}"}`],
    ['a record with space after it', `${FORGED}  `],
    [
      'the start of a segment',
      `{"segment":2,"started":"${DAY}T12:00:00.000Z","previous":"","seq":4,"mac":"${'A'.repeat(43)}"}`,
    ],
  ])('SEC-5.4 is a fault if it looks like %s, before and after the daemon went on', async (_, appended) => {
    const dir = await logWith(appended);
    const fault = { file: SEGMENT, line: 4, what: 'is a record without a line end, which the log did not write' };
    expect((await verifyAuditLog(dir)).faults).toContainEqual(fault);
    const log = await openLog(dir);
    await log.append(recordOf('later'));
    await log.stop();
    expect((await verifyAuditLog(dir)).faults).toEqual([fault]);
  });

  it('SEC-5.4 is a note if a loss of power tore it, also for the check of the newest segment', async () => {
    const dir = await logWith(FORGED.slice(0, 40));
    const log = await openLog(dir);
    await log.append(recordOf('later'));
    await log.stop();
    expect(await verifyAuditLog(dir)).toMatchObject({
      faults: [],
      notes: [expect.stringContaining('not written whole')],
    });
    expect((await verifyNewest(dir)).faults).toEqual([]);
  });
});

describe('the log of another machine', () => {
  const listing = (sha256: string): LogListing => ({ log: 'old', segments: [{ name: SEGMENT, bytes: 1, sha256 }] });
  const [TRUE, FALSE] = ['a'.repeat(64), 'b'.repeat(64)].map(listing);
  const restored = (of: LogListing | undefined): AuditRecord =>
    recordOf('restore', {
      kind: 'person',
      door: PERSON_DOOR,
      tool: RESTORE_ACT,
      input: { logs: { old: of === undefined ? '' : hashOfListing(of) } },
    });

  it.each([
    ['without a newline', (line: string) => line],
    ['with a newline', (line: string) => `${line}\n`],
    ['with a code that was made up', (line: string) => `${line.slice(0, -1)},"seq":3,"mac":"${'A'.repeat(43)}"}\n`],
    ['in a file of an old day', null],
  ])('SEC-5.4 is not proven by a record of a restore that was forged %s', async (_, form) => {
    const home = await makeTempDir();
    const [ownDir, dir] = [join(home, 'audit'), join(home, 'other')];
    const log = await openLog(ownDir);
    await log.append(restored(TRUE));
    await log.stop();
    await mkdir(join(dir, 'old'), { recursive: true });
    const listed = async (of: LogListing | undefined) => {
      if (of !== undefined) await writeListing(dir, of);
      return (await verifyOtherLog({ dir, log: 'old', ownDir })).faults.filter(({ file }) => file === 'segments.json');
    };
    expect(await listed(TRUE)).toEqual([]);
    const line = JSON.stringify(restored(FALSE));
    if (form === null) await writeFile(join(ownDir, 'audit-2025-01-14.jsonl'), `${line}\n`);
    else await appendFile(join(ownDir, SEGMENT), form(line));
    for (const isRestarted of [false, true]) {
      if (isRestarted) await (await openLog(ownDir)).stop();
      expect(await listed(FALSE)).toMatchObject([{ what: 'is not as it was written' }]);
    }
    expect((await readFile(join(ownDir, SEGMENT), 'utf8')).length).toBeGreaterThan(0);
  });
});
