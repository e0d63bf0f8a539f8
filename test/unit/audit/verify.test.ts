import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Link } from '#src/audit/chain.js';
import { type AuditLog, createAuditLog } from '#src/audit/log.js';
import { type AuditRecord, NO_END } from '#src/audit/record.js';
import { verifyAuditLog } from '#src/audit/verify.js';
import { silentLogger } from '#src/core/log.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { DAY_MS, makeTempDir, TestClock } from '../stores/open-stores.js';
import {
  countUnchained,
  filesWithLines,
  laterSteps,
  newLog,
  START_MS,
  STEPS,
  TAMPERING,
  TAMPERINGS,
  UNCHAINED,
  write,
} from './log-generator.ts';

describe('the verification of the audit log', () => {
  it('SEC-5.4 finds nothing in a log that was only written, over days, restarts, deaths, losses of power, removals as old and a clock that goes back', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, UNCHAINED, async (steps, unchained) => {
        const { dir, records } = await newLog(steps, unchained);
        const report = await verifyAuditLog(dir);
        const isPruned = steps.some(({ kind }) => kind === 'prune' || kind === 'power loss');
        const since = isPruned ? report.since : new Date(START_MS).toISOString();
        const left = isPruned ? await countUnchained(dir) : unchained;
        expect(report).toMatchObject({ faults: [], moreFaults: 0, records, unchained: left, since });
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

  it('SEC-5.4 finds whatever a person without the key changes, removes, adds, moves or cuts, also after what is old was removed', async () => {
    await fc.assert(
      fc.asyncProperty(
        STEPS,
        UNCHAINED,
        TAMPERING,
        fc.boolean(),
        STEPS,
        async (steps, unchained, how, goesOn, later) => {
          const at = await newLog(steps, unchained);
          const names = await filesWithLines(at.dir);
          await TAMPERINGS[how.kind]({ dir: at.dir, names }, how);
          if (goesOn) await write(laterSteps(how, later), at);
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

  it.each(['no_key', 'changed', 'no_head'])('SEC-5.4 believes no note that the key does not prove: %s', async (why) => {
    const { dir } = await newLog([], 0);
    await appendFile(join(dir, 'audit-2025-01-15.jsonl'), 'x\n');
    const { faults: before } = await verifyAuditLog(dir);
    const note = `"segment":2,"started":"2025-01-16T12:00:00.000Z","previous":"","break":{"why":"${why}","name":"x"}`;
    await writeFile(join(dir, 'audit-2025-01-16.jsonl'), `{${note},"seq":1,"mac":"${'A'.repeat(43)}"}\n`);
    const { faults } = await verifyAuditLog(dir);
    expect(faults).toEqual(expect.arrayContaining([...before]));
    expect(faults.filter(({ isNoted }) => isNoted === true)).toEqual([]);
  });

  it('SEC-5.4 finds that a segment was divided into two files', async () => {
    const { dir } = await newLog([], 0);
    const text = await readFile(join(dir, 'audit-2025-01-15.jsonl'), 'utf8');
    const at = text.indexOf('\n') + 1;
    await writeFile(join(dir, 'audit-2025-01-15.jsonl'), text.slice(0, at));
    await writeFile(join(dir, 'audit-2025-01-15.2.jsonl'), text.slice(at));
    expect((await verifyAuditLog(dir)).faults).toMatchObject([{ file: 'audit-2025-01-15.2.jsonl', line: 1 }]);
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
