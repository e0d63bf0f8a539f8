import { appendFile, chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AuditLog, type AuditRecord, createAuditLog } from '#src/audit/log.js';
import { silentLogger } from '#src/core/log.js';
import { DAY_MS, makeTempDir, TestClock } from '../stores/open-stores.js';

const TODAY = 'audit-2025-01-15.jsonl';

function makeRecord(n: number, project = '/home/me/project'): AuditRecord {
  return {
    time: '2025-01-15T12:00:00.000Z',
    request_id: `req_${n}`,
    session: 'session-a',
    project,
    door: 'grpc',
    tool: 'safe_bash',
    input: { command: 'npm test' },
    output_sha256: '00'.repeat(32),
    output_bytes: 12,
    duration_ms: 3,
    secrets_found: 1,
    secret_rules: ['generic-api-key'],
    exit_code: 0,
    error_code: null,
  };
}

async function openAudit(dir: string, clock = new TestClock()): Promise<AuditLog> {
  const audit = createAuditLog({ dir: join(dir, 'audit'), clock, logger: silentLogger });
  await audit.start();
  onTestFinished(() => audit.stop());
  return audit;
}

/** Puts a file in place of the folder. The returned function puts the folder back. */
async function takeAway(dir: string): Promise<() => Promise<void>> {
  const [folder, aside] = [join(dir, 'audit'), join(dir, 'aside')];
  await rename(folder, aside);
  await writeFile(folder, '');
  return async () => {
    await rm(folder);
    await rename(aside, folder);
  };
}

function idsOf(records: readonly AuditRecord[]): string[] {
  return records.map((record) => record.request_id);
}

describe('the audit log', () => {
  it('SEC-5.2 SEC-5.3 keeps every field of a record on one line', async () => {
    const dir = await makeTempDir();
    const audit = await openAudit(dir);
    const record = {
      ...makeRecord(1),
      input: { command: 'a\nb "c" 💥' },
      isolation_missing: ['pids'],
      sandbox: { backend: 'bubblewrap' },
      later: 1,
    };
    await audit.append(record);
    const lines = (await readFile(join(dir, 'audit', TODAY), 'utf8')).split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[1] ?? '')).toEqual({ ...record, seq: 2, mac: expect.stringMatching(/^[\w-]{43}$/) });
    expect(await audit.tail(10)).toEqual([record]);
  });

  it('SEC-5.4 only ever appends, over restarts', async () => {
    const dir = await makeTempDir();
    let before = '';
    for (let n = 0; n < 3; n++) {
      const audit = await openAudit(dir);
      await audit.append(makeRecord(n));
      await audit.stop();
      const now = await readFile(join(dir, 'audit', TODAY), 'utf8');
      expect(now.startsWith(before) && now.length > before.length).toBe(true);
      before = now;
    }
  });

  it('SEC-5.4 never overwrites what another writer appended', async () => {
    const dir = await makeTempDir();
    const audit = await openAudit(dir);
    await audit.append(makeRecord(1));
    await appendFile(join(dir, 'audit', TODAY), `${JSON.stringify(makeRecord(2))}\n`);
    await audit.append(makeRecord(3));
    expect(idsOf(await audit.tail(10))).toEqual(['req_1', 'req_2', 'req_3']);
  });

  it('has mode 0600 in a folder of mode 0700, even if a file was wider', async () => {
    const dir = await makeTempDir();
    const audit = await openAudit(dir);
    expect((await stat(join(dir, 'audit'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, 'audit', TODAY))).mode & 0o777).toBe(0o600);
    await audit.stop();
    await chmod(join(dir, 'audit', TODAY), 0o644);
    await openAudit(dir);
    expect((await stat(join(dir, 'audit', TODAY))).mode & 0o777).toBe(0o600);
  });

  it('loses none of 1000 concurrent appends and keeps their order', async () => {
    const audit = await openAudit(await makeTempDir());
    const records = Array.from({ length: 1000 }, (_, n) => makeRecord(n));
    await Promise.all(records.map((record) => audit.append(record)));
    expect(await audit.tail(2000)).toEqual(records);
  });

  it('accepts an append that comes just as the last write ends', async () => {
    const audit = await openAudit(await makeTempDir());
    const chain = audit.append(makeRecord(0)).then(() => audit.append(makeRecord(1)));
    await Promise.all([chain, chain.then(() => audit.append(makeRecord(2)))]);
    expect(idsOf(await audit.tail(10))).toEqual(['req_0', 'req_1', 'req_2']);
  });

  it('starts a file at midnight UTC, and tail reads across days', async () => {
    const dir = await makeTempDir();
    const clock = new TestClock();
    const audit = await openAudit(dir, clock);
    for (let n = 0; n < 6; n++) {
      await audit.append(makeRecord(n, n % 2 === 0 ? '/even' : '/odd'));
      clock.nowMs += DAY_MS / 2;
    }
    expect((await readdir(join(dir, 'audit'))).sort()).toEqual([
      'audit-2025-01-15.jsonl',
      'audit-2025-01-16.jsonl',
      'audit-2025-01-17.jsonl',
      'audit-2025-01-18.jsonl',
    ]);
    expect(idsOf(await audit.tail(4))).toEqual(['req_2', 'req_3', 'req_4', 'req_5']);
    expect(idsOf(await audit.tail(2, '/odd'))).toEqual(['req_3', 'req_5']);
    expect(await audit.tail(0)).toEqual([]);
    expect(await audit.tail(5, '/other')).toEqual([]);
  });

  it('reads lines of any length backwards', async () => {
    const audit = await openAudit(await makeTempDir());
    const sizes = [1, 65_000, 65_536, 65_537, 200_000, 10, 131_072];
    const records = sizes.map((size, n) => ({ ...makeRecord(n), input: 'ü'.repeat(size) }));
    for (const record of records) await audit.append(record);
    expect(await audit.tail(100)).toEqual(records);
  });

  it.each(['', '{"time":"2025-01-15T', '{"time":"2025-01-15T12:00:00.000Z"}', 'null', '\u0000\u0000'])(
    'skips a torn last line and starts the next record on a new line: %j',
    async (torn) => {
      const dir = await makeTempDir();
      const first = await openAudit(dir);
      await first.append(makeRecord(1));
      await first.stop();
      await appendFile(join(dir, 'audit', TODAY), torn);
      const audit = await openAudit(dir);
      expect(idsOf(await audit.tail(10))).toEqual(['req_1']);
      await audit.append(makeRecord(2));
      expect(idsOf(await audit.tail(10))).toEqual(['req_1', 'req_2']);
    },
  );

  it('continues in a new file if someone removed the open one', async () => {
    const dir = await makeTempDir();
    const audit = await openAudit(dir);
    await audit.append(makeRecord(1));
    await rm(join(dir, 'audit', TODAY));
    await audit.append(makeRecord(2));
    expect(idsOf(await audit.tail(10))).toEqual(['req_2']);
  });
});

describe('SEC-5.1 a call in the audit log', () => {
  const START = {
    time: '2025-01-15T12:00:00.000Z',
    request_id: 'req_1',
    session: 'session-a',
    project: '/home/me/project',
    door: 'grpc',
    tool: 'safe_bash',
    input: { command: 'npm test' },
  };
  const END = { ...makeRecord(1), ...START };

  it('SEC-5.1: is shown as started while it runs, and afterwards only with its end, across days', async () => {
    const dir = await makeTempDir();
    const clock = new TestClock();
    const audit = await openAudit(dir, clock);
    await audit.begin(START);
    await audit.append(makeRecord(2));
    expect(await audit.tail(10)).toMatchObject([
      { ...START, kind: 'started', exit_code: null, error_code: null },
      { request_id: 'req_2' },
    ]);
    clock.nowMs += DAY_MS;
    await audit.end(END);
    expect(await audit.tail(10)).toEqual([makeRecord(2), { ...END, began: true }]);
    expect(await audit.tail(10, '/home/me/project')).toHaveLength(2);
  });

  it('SEC-5.1: counts once, and as failed only if its end will never come', async () => {
    const clock = new TestClock();
    const audit = await openAudit(await makeTempDir(), clock);
    const counts = async () => (await audit.stats(2, '')).map(({ day, calls, failed }) => [day, calls, failed]);
    await audit.begin(START);
    expect(await counts()).toEqual([['2025-01-15', 1, 0]]);
    clock.nowMs += DAY_MS;
    await audit.end({ ...END, duration_ms: DAY_MS });
    expect(await counts()).toEqual([['2025-01-16', 1, 0]]);
  });

  it('SEC-5.1: keeps its start if its end cannot be written, and is shown as interrupted', async () => {
    const dir = await makeTempDir();
    const clock = new TestClock();
    const audit = await openAudit(dir, clock);
    await audit.begin(START);
    clock.nowMs += DAY_MS;
    const putBack = await takeAway(dir);
    await expect(audit.end(END)).rejects.toMatchObject({ code: 'AUDIT_FAILED' });
    clock.nowMs -= DAY_MS;
    await putBack();
    const [, start = ''] = (await readFile(join(dir, 'audit', TODAY), 'utf8')).split('\n');
    expect(JSON.parse(start)).toMatchObject({ ...START, input: null, kind: 'started' });
    expect(await audit.tail(10)).toMatchObject([{ ...START, kind: 'started', error_code: 'INTERRUPTED' }]);
    expect(await audit.stats(1, '')).toMatchObject([{ calls: 1, failed: 1 }]);
  });

  it('SEC-5.1: is ended as INTERRUPTED once if the daemon died, with the facts of its start', async () => {
    const dir = await makeTempDir();
    const clock = new TestClock();
    const dead = await openAudit(dir, clock);
    await dead.begin(START);
    await dead.begin({ ...START, request_id: 'req_done' });
    await dead.end({ ...END, request_id: 'req_done' });
    await dead.stop();
    clock.nowMs += 2 * DAY_MS;
    const rows = ['req_1', 'req_done', 'req_lost'].map((requestId) => ({
      requestId,
      tool: 'safe_bash',
      project: '/home/me/project',
      session: 'session-a',
      startedMs: clock.nowMs - 2 * DAY_MS,
    }));
    const audit = await openAudit(dir, clock);
    const mask = (text: string) => text.replace('session', '[SECRET]');
    for (let start = 0; start < 2; start++) await audit.endInterrupted(start === 0 ? rows : rows.slice(0, 2), mask);
    const [done, interrupted, lost, ...others] = await audit.tail(10);
    expect(others).toEqual([]);
    expect(done).toMatchObject({ request_id: 'req_done', exit_code: 0 });
    expect(interrupted).toMatchObject({ ...START, began: true, exit_code: 1, error_code: 'INTERRUPTED' });
    // The daemon died between the journal and the log: the journal knows less.
    expect(lost).toMatchObject({
      request_id: 'req_lost',
      session: '[SECRET]-a',
      input: null,
      error_code: 'INTERRUPTED',
    });
    // On the day of their start: nothing is known of their end.
    expect(await audit.stats(3, '')).toMatchObject([
      { day: '2025-01-15', session: 'session-a', calls: 2, failed: 1 },
      { day: '2025-01-15', session: '[SECRET]-a', calls: 1, failed: 1 },
    ]);
  });
});

describe('an audit log that cannot be written', () => {
  it('fails at start with AUDIT_FAILED', async () => {
    const dir = await makeTempDir();
    await writeFile(join(dir, 'audit'), '');
    await expect(openAudit(dir)).rejects.toMatchObject({
      code: 'AUDIT_FAILED',
      message: expect.stringContaining(join(dir, 'audit')),
      remedy: expect.stringContaining('no call is answered'),
    });
  });

  it('fails every append at the turn of the day, and works again once the cause is fixed', async () => {
    const dir = await makeTempDir();
    const clock = new TestClock();
    const audit = await openAudit(dir, clock);
    clock.nowMs += DAY_MS;
    const putBack = await takeAway(dir);
    const failed = await Promise.allSettled([audit.append(makeRecord(1)), audit.append(makeRecord(2))]);
    expect(failed.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    await putBack();
    await audit.append(makeRecord(3));
    expect(idsOf(await audit.tail(10))).toEqual(['req_3']);
  });

  it('refuses records after stop', async () => {
    const audit = await openAudit(await makeTempDir());
    const last = audit.append(makeRecord(1));
    await audit.stop();
    await last;
    await expect(audit.append(makeRecord(2))).rejects.toMatchObject({ code: 'AUDIT_FAILED' });
  });
});
