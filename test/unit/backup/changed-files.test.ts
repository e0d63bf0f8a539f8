import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESTORE_ACT } from '#src/audit/other-log.js';
import { RecordReader } from '#src/audit/record-reader.js';
import { readAuditLog } from '#src/audit/select.js';
import { packBackup } from '#src/backup/archive.js';
import { MANIFEST, type Manifest } from '#src/backup/manifest.js';
import { restoreBackup } from '#src/backup/restore.js';
import { type Clock, systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { backUpFilledState, emptyHome, openState, pathsIn } from '../../helpers/filled-state.ts';

const FOLDER = 'a'.repeat(24);
/** When the backup of the filled state was made. */
const MADE_MS = 1e12;
const REF = 'undo_abcdefgh';
const REQUEST = `req_${'0'.repeat(26)}`;
const SHA1 = 'b'.repeat(40);
const RECORD = {
  ref: REF,
  requestId: REQUEST,
  tool: 'safe_bash',
  session: 's',
  atMs: MADE_MS - 0.5,
  changes: [
    { path: 'd/f', before: null, after: `f644 ${SHA1}` },
    { path: '', before: 'd755', after: 'd700' },
    { path: 'l', before: `l ${SHA1}`, after: 'u ?' },
  ],
  missed: [{ path: 'node_modules/', why: 'ignored directory' }],
  isShared: false,
};
const nameOf = (atMs: number): string =>
  `undo/records/${FOLDER}/${String(Math.floor(atMs)).padStart(15, '0')}-${REF}-${REQUEST}.json`;

let state: Awaited<ReturnType<typeof openState>>;
let file: string;
beforeAll(async () => {
  state = await openState();
  ({ file } = await backUpFilledState(state));
});
afterAll(async () => {
  await state.close();
  rmSync(state.home, { recursive: true });
});

/** The backup with more files in it. */
async function withFiles(more: Readonly<Record<string, string>>): Promise<string> {
  const dir = mkdtempSync(join(state.home, 'changed-'));
  await extract({ file, cwd: dir });
  const manifest: Manifest = JSON.parse(readFileSync(join(dir, MANIFEST), 'utf8'));
  const added = Object.entries(more).map(([path, text]) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
    return { path, bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
  });
  const changed = { ...manifest, files: [...manifest.files, ...added] };
  writeFileSync(join(dir, MANIFEST), JSON.stringify(changed));
  await packBackup(dir, changed, `${dir}.backup`);
  return `${dir}.backup`;
}

const restore = (home: string, from: string, clock: Clock = systemClock) =>
  restoreBackup({ file: from, paths: pathsIn(home), clock, logger: silentLogger });

const DAY_MS = 24 * 60 * 60 * 1000;
const clockAt = (ms: number): Clock => ({ ...systemClock, now: () => ms });

async function inHome(task: (home: string) => Promise<void>): Promise<void> {
  const home = emptyHome();
  try {
    await task(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

const filesIn = (dir: string): string[] =>
  !existsSync(dir)
    ? []
    : readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((one) =>
        one.isDirectory() ? [] : [one.name],
      );

describe('the undo of a backup that was changed', () => {
  it('NFR-2.3 is restored if each record is as a daemon writes it', async () => {
    const from = await withFiles({ [nameOf(RECORD.atMs)]: JSON.stringify(RECORD) });
    await inHome(async (home) => {
      await restore(home, from);
      const { undoDir } = pathsIn(home);
      expect(readFileSync(join(undoDir, nameOf(RECORD.atMs).slice('undo/'.length)), 'utf8')).toBe(
        JSON.stringify(RECORD),
      );
    });
  });

  it('NFR-2.3 is refused if a record has another shape, another name than its call, or a later time than the backup', async () => {
    const change = (more: object) => ({ ...RECORD, changes: [{ ...RECORD.changes[0], ...more }] });
    const wrong: [string, unknown][] = [
      [nameOf(MADE_MS + 1), { ...RECORD, atMs: MADE_MS + 1 }],
      [nameOf(RECORD.atMs), null],
      [nameOf(RECORD.atMs), { ...RECORD, atMs: 1 }],
      [nameOf(RECORD.atMs), { ...RECORD, ref: 'undo_hgfedcba' }],
      [nameOf(RECORD.atMs), { ...RECORD, requestId: `req_${'1'.repeat(26)}` }],
      ...Object.keys(RECORD).map((key): [string, unknown] => [nameOf(RECORD.atMs), { ...RECORD, [key]: {} }]),
      ...['/etc/f', '../f', 'd/../f', 'd/..', '.', './f', 'd//f', 'a\0b', 'a€'].map((path): [string, unknown] => [
        nameOf(RECORD.atMs),
        change({ path }),
      ]),
      ...['', 'f644', `f644 ${SHA1}x`, 'x', 7].map((after): [string, unknown] => [
        nameOf(RECORD.atMs),
        change({ after }),
      ]),
    ];
    for (const [path, record] of wrong) {
      const from = await withFiles({ [path]: JSON.stringify(record) });
      await inHome(async (home) => {
        await expect(restore(home, from), JSON.stringify(record)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
        expect(filesIn(pathsIn(home).undoDir)).toEqual([]);
      });
    }
  });

  it('NFR-2.3 is refused if it comes from the future', async () => {
    const from = await withFiles({ [nameOf(RECORD.atMs)]: JSON.stringify(RECORD) });
    await inHome(async (home) => {
      const message = expect.stringContaining('was made at 2001-09-09T01:46:40.000Z, and now it is 2001-09-08');
      const refused = restore(home, from, clockAt(MADE_MS - DAY_MS - 1));
      await expect(refused).rejects.toMatchObject({ code: 'INTEGRITY_FAILED', message });
      expect(filesIn(home)).toEqual(['outside']);
    });
  });

  it('NFR-2.3 keeps its order and ends at the time of the restore if its clock is ahead', async () => {
    const last = { ...RECORD, ref: 'undo_bbbbbbbb' };
    const first = { ...RECORD, ref: 'undo_zzzzzzzz', atMs: MADE_MS - 1_000 };
    const call = { requestId: 'ended', tool: 'safe_bash', session: 's', beganMs: 1, named: [], isKept: true };
    const named = ({ ref, atMs }: typeof RECORD): string => nameOf(atMs).replace(REF, ref);
    const from = await withFiles({
      [named(last)]: JSON.stringify(last),
      [named(first)]: JSON.stringify(first),
      [`undo/calls/${FOLDER}`]: `\n${JSON.stringify({ ...call, endedMs: MADE_MS })}`,
    });
    await inHome(async (home) => {
      const now = MADE_MS - DAY_MS;
      await restore(home, from, clockAt(now));
      const { undoDir } = pathsIn(home);
      const records = join(undoDir, 'records', FOLDER);
      const moved = [first, last].map((one) => ({ ...one, atMs: one.atMs - DAY_MS }));
      const names = readdirSync(records).sort();
      expect(names.map((name) => JSON.parse(readFileSync(join(records, name), 'utf8')))).toEqual(moved);
      expect(names).toEqual(moved.map((one) => named(one).split('/').at(-1)));
      const mark: unknown = JSON.parse(readFileSync(join(undoDir, 'calls', FOLDER), 'utf8'));
      expect(mark).toEqual({ ...call, beganMs: 0, endedMs: now });
    });
  });

  it('NFR-2.3 has only the calls that ended before it was made', async () => {
    const began = { tool: 'safe_bash', session: 's', beganMs: 1, endedMs: null, named: [], isKept: true };
    const marks = [
      { requestId: 'ended', ...began },
      { requestId: 'goes on', ...began, named: ['"endedMs":1'] },
      { requestId: 'ended', endedMs: 2 },
      { requestId: 'ends later', ...began, endedMs: MADE_MS + 1 },
      { requestId: 'goes on again', ...began, endedMs: 2 },
      { requestId: 'goes on again', endedMs: null },
      { requestId: 'no names', ...began, endedMs: 2, named: 'x' },
    ];
    const from = await withFiles({
      [`undo/calls/${FOLDER}`]: marks.map((mark) => `\n${JSON.stringify(mark)}`).join(''),
    });
    await inHome(async (home) => {
      await restore(home, from);
      const text = readFileSync(join(pathsIn(home).undoDir, 'calls', FOLDER), 'utf8');
      expect(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual([{ requestId: 'ended', ...began, endedMs: 2 }]);
    });
  });
});

describe('a restore of files of projects', () => {
  const places = ['undo/calls/x', `layers/${FOLDER}/br_1/upper/f`];
  it.each(places)('NFR-2.3 is refused if %s is in the state, and leaves it', async (place) => {
    const from = await withFiles({ [`layers/${FOLDER}/br_1/upper.tar`]: 'older' });
    await inHome(async (home) => {
      const kept = join(pathsIn(home).dataDir, place);
      mkdirSync(dirname(kept), { recursive: true });
      writeFileSync(kept, 'newer');
      const message = expect.stringContaining(join(pathsIn(home).dataDir, place.split('/')[0] ?? ''));
      await expect(restore(home, from)).rejects.toMatchObject({ code: 'CONFLICT', message });
      expect(filesIn(pathsIn(home).layersDir).concat(filesIn(pathsIn(home).undoDir))).toHaveLength(1);
      expect(readFileSync(kept, 'utf8')).toBe('newer');
    });
  });

  it('NFR-2.3 leaves none of them if it fails', async () => {
    const from = await withFiles({ [nameOf(RECORD.atMs)]: JSON.stringify(RECORD) });
    await inHome(async (home) => {
      const { undoDir, layersDir } = pathsIn(home);
      // A file is in the place of the folder for this database.
      await expect(
        restoreBackup({
          file: from,
          paths: { ...pathsIn(home), sessionDb: join(home, 'outside', 'sessions.db') },
          clock: systemClock,
          logger: silentLogger,
        }),
      ).rejects.toMatchObject({ code: 'EEXIST' });
      expect([undoDir, layersDir].filter(existsSync)).toEqual([]);
    });
  });

  it('NFR-2.3 can be made again after its last step failed, and the failure is on record', async () => {
    const from = await withFiles({ [nameOf(RECORD.atMs)]: JSON.stringify(RECORD) });
    await inHome(async (home) => {
      const paths = pathsIn(home);
      const { stateDb, memoryDb, sessionDb, auditDir, otherAuditDir, artifactsDir, configFile } = paths;
      mkdirSync(dirname(memoryDb), { recursive: true });
      const empty = new DatabaseSync(memoryDb);
      empty.exec('CREATE TABLE empty (x)');
      empty.close();
      // The record of the restore asks for the time when the state is held: a directory cannot be replaced by a file.
      const blocks: Clock = {
        ...systemClock,
        now() {
          if (filesIn(auditDir).length > 0 && existsSync(stateDb)) {
            rmSync(stateDb, { recursive: true });
            mkdirSync(stateDb);
          }
          return systemClock.now();
        },
      };
      await expect(restore(home, from, blocks)).rejects.toMatchObject({ code: 'EISDIR' });
      expect([sessionDb, configFile].filter((path) => existsSync(path))).toEqual([]);
      expect([artifactsDir, otherAuditDir, paths.undoDir].flatMap(filesIn)).toEqual([]);
      const kept = new DatabaseSync(memoryDb);
      expect(kept.prepare('SELECT name FROM sqlite_master').all()).toEqual([{ name: 'empty' }]);
      kept.close();
      rmSync(stateDb, { recursive: true });
      expect(await restore(home, from)).toMatchObject({ artifacts: 1, projects_with_files: 1 });
      const codes: unknown[] = [];
      for await (const { record } of readAuditLog(auditDir, { tool: RESTORE_ACT }, new RecordReader()))
        codes.push(record.error_code);
      expect(codes).toEqual([null, 'INTERNAL_ERROR', null]);
    });
  });
});
