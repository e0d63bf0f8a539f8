import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packBackup } from '#src/backup/archive.js';
import { MANIFEST, type Manifest } from '#src/backup/manifest.js';
import { restoreBackup } from '#src/backup/restore.js';
import { systemClock } from '#src/core/clock.js';
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

const restore = (home: string, from: string) =>
  restoreBackup({ file: from, paths: pathsIn(home), clock: systemClock, logger: silentLogger });

async function inHome(task: (home: string) => Promise<void>): Promise<void> {
  const home = emptyHome();
  try {
    await task(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [] : [one.name]));

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
});
