import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { create, extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packBackup } from '#src/backup/archive.js';
import { BACKUP_FORMAT, MANIFEST, type Manifest } from '#src/backup/manifest.js';
import { restoreBackup } from '#src/backup/restore.js';
import { BACKED_UP } from '#src/backup/tables.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import {
  backUpFilledState,
  emptyHome,
  LARGE,
  openState,
  openStores,
  pathsIn,
  SESSION,
  SMALL,
} from '../../helpers/filled-state.ts';

let state: Awaited<ReturnType<typeof openState>>;
let backup: Awaited<ReturnType<typeof backUpFilledState>>;
let bytes: Buffer;
beforeAll(async () => {
  state = await openState();
  backup = await backUpFilledState(state);
  bytes = readFileSync(backup.file);
});
afterAll(async () => {
  await state.close();
  rmSync(state.home, { recursive: true });
});

const restoreTo = (home: string, file: string) =>
  restoreBackup({ file, paths: pathsIn(home), clock: systemClock, logger: silentLogger });

/** What became of a home: its files, but not the directories. */
function filesIn(home: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(home.length + 1))
    .sort();
}

/** Restores into a new home. Returns the error, or what is in the state. */
async function attempt(file: string): Promise<{ refused: string; left: string[] } | { texts: string[] }> {
  const home = emptyHome();
  try {
    await restoreTo(home, file);
    const stores = await openStores(pathsIn(home));
    const read = async (id: string) => String(await stores.artifacts.read(SESSION, id, 0, LARGE.length));
    const { small, large } = backup.ids;
    const texts = [(await stores.artifacts.read(SESSION, small, 0, SMALL.length)).toString(), await read(large)];
    await stores.close();
    return { texts };
  } catch (thrown) {
    if (!(thrown instanceof ContextdError)) throw thrown;
    return { refused: thrown.code, left: filesIn(home) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Unpacks the backup, lets `change` change it, and packs it again. */
async function changed(change: (dir: string, manifest: Manifest) => Manifest, isRelisted = false): Promise<string> {
  const dir = mkdtempSync(join(state.home, 'changed-'));
  await extract({ file: backup.file, cwd: dir });
  const before: Manifest = JSON.parse(readFileSync(join(dir, MANIFEST), 'utf8'));
  const manifest = change(dir, before);
  const files = manifest.files.map((file) => {
    const content = readFileSync(join(dir, file.path));
    const sha256 = createHash('sha256').update(content).digest('hex');
    return isRelisted ? { ...file, bytes: content.length, sha256 } : file;
  });
  writeFileSync(join(dir, MANIFEST), JSON.stringify({ ...manifest, files }));
  const target = `${dir}.backup`;
  await packBackup(dir, { ...manifest, files }, target);
  return target;
}

function inDatabase(dir: string, entry: string, sql: string): void {
  const database = new DatabaseSync(join(dir, entry));
  database.exec(sql);
  database.close();
}

describe('a backup', () => {
  it('NFR-2.3 has a rule for every table of the databases', () => {
    for (const { migrations, tables } of BACKED_UP) {
      const fresh = new DatabaseSync(':memory:');
      for (const migration of migrations) fresh.exec(migration);
      const names = fresh
        .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
        .all()
        .map(({ name }) => name);
      expect(Object.keys(tables).sort()).toEqual(names);
    }
  });

  it('NFR-2.3 is restored with its artifacts, the numbers of secrets and a key of its own', async () => {
    const home = emptyHome();
    const result = await restoreTo(home, backup.file);
    expect(result).toMatchObject({ host: 'old', contextd: '1.2.3', artifacts: 1, logs: ['old-20010909T014640'] });
    const stores = await openStores(pathsIn(home));
    const { small, large } = backup.ids;
    expect(String(await stores.artifacts.read(SESSION, small, 0, SMALL.length))).toBe(SMALL);
    expect(String(await stores.artifacts.read(SESSION, large, 0, LARGE.length))).toBe(LARGE);
    // The same content is stored once, as before.
    const again = stores.artifacts.put(SESSION, 'req_2', 'safe_bash', [{ field: 'stdout', text: LARGE }], 0);
    await again.committed;
    expect(await stores.database.read('SELECT count(*) AS count FROM contents')).toEqual([{ count: 2 }]);
    expect(await stores.sessions.next(SESSION)).toBeGreaterThan(1);
    expect(await stores.database.read('SELECT * FROM http_tokens')).toEqual([]);
    await stores.close();
    rmSync(home, { recursive: true });
  });

  it('NFR-2.3 is not restored into a state that has something, and changes nothing of it', async () => {
    const home = emptyHome();
    await restoreTo(home, backup.file);
    const before = filesIn(home);
    await expect(restoreTo(home, backup.file)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('the state is not empty'),
    });
    expect(filesIn(home)).toEqual(before);
    rmSync(home, { recursive: true });
  });

  it('NFR-2.3 is refused before anything is written wherever a byte of it is changed or missing', async () => {
    const whole = gunzipSync(bytes);
    const change = fc.record({
      at: fc.nat(1_000_000_000),
      to: fc.nat(255),
      how: fc.constantFrom('byte', 'unpacked byte', 'cut', 'unpacked cut', 'removed block' as const),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, to, how }) => {
        const source = how.startsWith('unpacked') || how === 'removed block' ? whole : bytes;
        const place = at % source.length;
        const block = place - (place % 512);
        const tampered = how.endsWith('byte')
          ? Buffer.from(source).fill(to, place, place + 1)
          : how === 'removed block'
            ? Buffer.concat([source.subarray(0, block), source.subarray(block + 512)])
            : source.subarray(0, place);
        const file = join(state.home, 'tampered');
        writeFileSync(file, source === whole ? gzipSync(tampered, { level: 1 }) : tampered);
        const found = await attempt(file);
        // A byte that means nothing, such as the padding of an archive, may differ.
        if ('texts' in found) expect(found.texts).toEqual([SMALL, LARGE]);
        else expect(found).toEqual({ refused: 'INTEGRITY_FAILED', left: ['outside'] });
      }),
    );
  });

  it('NFR-2.3 is refused before anything is written if its list names a place outside of the state, or lacks a database', async () => {
    const evil = [
      '../outside',
      '/etc/passwd',
      'audit/x/../../y',
      'tools/x',
      'state/certs/cli.key',
      'artifacts/01',
      `undo/moved/${'a'.repeat(24)}/objects/../../../y`,
      `undo/moved/${'a'.repeat(24)}/config`,
      'undo/calls/../y',
      `undo/calls/${'a'.repeat(24)}/y`,
      `layers/${'a'.repeat(24)}/../upper.tar`,
      `layers/${'a'.repeat(24)}/br_1/upper/y`,
      MANIFEST,
    ];
    for (const path of evil) {
      const dir = mkdtempSync(join(state.home, 'evil-'));
      await extract({ file: backup.file, cwd: dir });
      const manifest: Manifest = JSON.parse(readFileSync(join(dir, MANIFEST), 'utf8'));
      const files = [...manifest.files, { path, bytes: 4, sha256: createHash('sha256').update('evil').digest('hex') }];
      writeFileSync(join(dir, MANIFEST), JSON.stringify({ ...manifest, files }));
      writeFileSync(join(dir, 'evil'), 'evil');
      const renamed = (entry: { path: string }): void => {
        if (entry.path === 'evil') entry.path = path;
      };
      const entries = [MANIFEST, ...manifest.files.map((one) => one.path), 'evil'];
      const options = { cwd: dir, gzip: true, file: `${dir}.backup`, preservePaths: true, onWriteEntry: renamed };
      await create(options, entries);
      expect({ path, found: await attempt(`${dir}.backup`) }).toEqual({
        path,
        found: { refused: 'INTEGRITY_FAILED', left: ['outside'] },
      });
    }
    const lacking = await changed((_, manifest) => ({
      ...manifest,
      files: manifest.files.filter((file) => file.path !== 'memory.db'),
    }));
    expect(await attempt(lacking)).toEqual({ refused: 'INTEGRITY_FAILED', left: ['outside'] });
  });

  it('NFR-2.3 is refused if it holds a link, a directory, or a file that is not in its list', async () => {
    const dir = mkdtempSync(join(state.home, 'links-'));
    await extract({ file: backup.file, cwd: dir });
    const manifest: Manifest = JSON.parse(readFileSync(join(dir, MANIFEST), 'utf8'));
    const names = manifest.files.map(({ path }) => path);
    mkdirSync(join(dir, 'folder'));
    symlinkSync('/etc/passwd', join(dir, 'link'));
    writeFileSync(join(dir, 'more'), 'more');
    for (const extra of ['folder', 'link', 'more', 'contextd.db']) {
      const file = `${dir}-${extra}.backup`;
      await create({ cwd: dir, gzip: true, file }, [MANIFEST, ...names, extra]);
      expect({ extra, found: await attempt(file) }).toEqual({
        extra,
        found: { refused: 'INTEGRITY_FAILED', left: ['outside'] },
      });
    }
  });

  it('NFR-2.3 of a newer contextd is refused before anything is written', async () => {
    const newer = await changed((_, manifest) => ({ ...manifest, schemas: { ...manifest.schemas, 'memory.db': 999 } }));
    expect(await attempt(newer)).toEqual({ refused: 'VERSION_MISMATCH', left: ['outside'] });
    const format = await changed((_, manifest) => ({ ...manifest, format: BACKUP_FORMAT + 1 }));
    expect(await attempt(format)).toEqual({ refused: 'VERSION_MISMATCH', left: ['outside'] });
  });

  it('NFR-2.3 brings no trigger, view or table of its own, and no token', async () => {
    const acts = [
      `CREATE TRIGGER t AFTER INSERT ON artifacts BEGIN DELETE FROM consents; END`,
      'CREATE VIEW v AS SELECT 1',
      'CREATE TABLE more (x)',
      'ALTER TABLE consents ADD COLUMN more TEXT',
      'PRAGMA user_version = 3',
    ];
    for (const sql of acts) {
      const file = await changed((dir, manifest) => {
        inDatabase(dir, 'contextd.db', sql);
        return manifest;
      }, true);
      expect({ sql, found: await attempt(file) }).toMatchObject({ sql, found: { refused: 'INTEGRITY_FAILED' } });
    }
    const file = await changed((dir, manifest) => {
      inDatabase(dir, 'contextd.db', `INSERT INTO http_tokens VALUES ('evil', 'aa', '', 'decide', 1, NULL)`);
      return manifest;
    }, true);
    const home = emptyHome();
    await restoreTo(home, file);
    const stores = await openStores(pathsIn(home));
    expect(await stores.database.read('SELECT * FROM http_tokens')).toEqual([]);
    await stores.close();
    rmSync(home, { recursive: true });
  });

  it('NFR-2.3 of an older contextd is migrated', async () => {
    const entry = 'sessions.db';
    const older = await changed((dir, manifest) => {
      inDatabase(dir, entry, 'DROP INDEX events_bounds; PRAGMA user_version = 2');
      return { ...manifest, schemas: { ...manifest.schemas, [entry]: 2 } };
    }, true);
    const home = emptyHome();
    await restoreTo(home, older);
    const database = new DatabaseSync(pathsIn(home).sessionDb, { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 4 });
    database.close();
    rmSync(home, { recursive: true });
  });

  it('NFR-2.3 leaves nothing behind that it was made of', () => {
    expect(readdirSync(state.paths.backupDir)).toEqual([]);
    expect(existsSync(backup.file)).toBe(true);
  });
});
