import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { createDatabase } from '#src/stores/sqlite.js';
import { BatchRunner, fromDatabaseFault } from '#src/stores/sqlite-engine.js';
import { STATE_MIGRATIONS } from '#src/stores/state-migrations.js';
import { makeTempDir, openTestDatabase } from '../unit/stores/open-stores.ts';

const INSERT = 'INSERT INTO meta VALUES (?, ?)';
const COUNT = 'SELECT count(*) AS n FROM meta';
const value = Buffer.from('v');

describe('the state database', () => {
  it('keeps what was written over a restart', async () => {
    const dir = await makeTempDir();
    const first = await openTestDatabase(dir);
    await first.write([{ sql: INSERT, params: ['a', value] }]);
    await first.stop();
    const second = await openTestDatabase(dir);
    expect(await second.read('SELECT name FROM meta')).toEqual([{ name: 'a' }]);
  });

  it('has mode 0600 together with its log, whatever its mode was before', async () => {
    const dir = await makeTempDir();
    await writeFile(join(dir, 'contextd.db'), '', { mode: 0o644 });
    const database = await openTestDatabase(dir);
    await database.write([{ sql: INSERT, params: ['a', value] }]);
    for (const name of ['contextd.db', 'contextd.db-wal']) {
      expect((await stat(join(dir, name))).mode & 0o777, name).toBe(0o600);
    }
  });

  it('can be stopped twice, and refuses calls afterwards', async () => {
    const database = await openTestDatabase(await makeTempDir());
    await database.stop();
    await database.stop();
    expect(database.state).toBe('stopped');
    await expect(database.read(COUNT)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });

  it('answers requests made before stop', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const writes = Array.from({ length: 600 }, (_, i) => database.write([{ sql: INSERT, params: [`k${i}`, value] }]));
    const [count] = await Promise.all([database.read(COUNT), ...writes, database.stop()]);
    expect(count).toEqual([{ n: 600 }]);
  });

  it('loses none of 1000 concurrent writes', async () => {
    const dir = await makeTempDir();
    const database = await openTestDatabase(dir);
    const names = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    await Promise.all(names.map((name) => database.write([{ sql: INSERT, params: [name, value] }])));
    await database.stop();
    expect(await (await openTestDatabase(dir)).read(COUNT)).toEqual([{ n: 1000 }]);
  });

  it('executes all statements of a write or none, without effect on other writes', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const before = database.write([{ sql: INSERT, params: ['before', value] }]);
    const broken = database.write([
      { sql: INSERT, params: ['half', value] },
      { sql: INSERT, params: ['half', value] },
    ]);
    const after = database.write([{ sql: INSERT, params: ['after', value] }]);
    await expect(broken).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await Promise.all([before, after]);
    expect(await database.read('SELECT name FROM meta ORDER BY name')).toEqual([{ name: 'after' }, { name: 'before' }]);
  });

  it('fails every pending call at once if its thread dies, and says so', async () => {
    const dir = await makeTempDir();
    const workers: Worker[] = [];
    const remember = (worker: Worker) => workers.push(worker);
    process.on('worker', remember);
    onTestFinished(() => {
      process.off('worker', remember);
    });
    const failures: ContextdError[] = [];
    const database = createDatabase({
      file: join(dir, 'contextd.db'),
      migrations: STATE_MIGRATIONS,
      logger: silentLogger,
      onFailure: (error) => failures.push(error),
    });
    await database.start();
    workers[0]?.postMessage({ id: 0, body: null });
    const calls = [database.read(COUNT), database.read(COUNT), database.write([{ sql: INSERT, params: ['a', value] }])];
    const settled = Promise.allSettled(calls);
    expect((await settled).map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(failures.map((error) => error.message)).toEqual(['the database contextd.db thread has ended']);
    expect(database.state).toBe('failed');
    await expect(database.read(COUNT)).rejects.toThrow('the database contextd.db thread has ended');
    await database.stop();
  });
});

describe('two databases of one daemon', () => {
  it('have a file, a schema and a thread each, and the end of one thread leaves the other', async () => {
    const dir = await makeTempDir();
    const workers: Worker[] = [];
    const remember = (worker: Worker) => workers.push(worker);
    process.on('worker', remember);
    onTestFinished(() => {
      process.off('worker', remember);
    });
    const state = await openTestDatabase(dir);
    const open = async (migrations: readonly string[]) => {
      const database = createDatabase({ file: join(dir, 'memory.db'), migrations, logger: silentLogger });
      onTestFinished(() => database.stop());
      await database.start();
      return database;
    };
    const notes = 'CREATE TABLE notes (text TEXT NOT NULL) STRICT';
    const first = await open([notes]);
    await first.write([{ sql: 'INSERT INTO notes VALUES (?)', params: ['kept'] }]);
    await first.stop();
    const memory = await open([notes, 'ALTER TABLE notes ADD COLUMN rank INTEGER NOT NULL DEFAULT 7']);
    expect(await memory.read('SELECT * FROM notes')).toEqual([{ text: 'kept', rank: 7 }]);
    await expect(memory.read('SELECT * FROM projects')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await expect(state.read('SELECT * FROM notes')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await workers.at(-1)?.terminate();
    await expect(memory.read('SELECT 1 AS one')).rejects.toThrow('the database memory.db thread has ended');
    expect(await state.read('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('opening the state database', () => {
  it('refuses a second owner in the same process, and the first keeps its lock', async () => {
    const dir = await makeTempDir();
    const first = await openTestDatabase(dir);
    await expect(openTestDatabase(dir)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `another contextd holds ${join(dir, 'contextd.db')}`,
      remedy: expect.stringContaining('ctxd server stop'),
    });
    expect(await openElsewhere(dir)).toBe('CONFLICT');
    await first.write([{ sql: INSERT, params: ['still', value] }]);
    await first.stop();
    expect(await openElsewhere(dir)).toBe('opened');
  });

  it('refuses while another process owns it, and opens once this process was killed', async () => {
    const dir = await makeTempDir();
    const owner = spawnOpener(dir, 'hold');
    await once(owner.stdout, 'data');
    await expect(openTestDatabase(dir)).rejects.toMatchObject({ code: 'CONFLICT' });
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await openTestDatabase(dir);
  });

  it('refuses a database of a newer version and names both versions', async () => {
    const dir = await makeTempDir();
    const newer = new DatabaseSync(join(dir, 'contextd.db'));
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await expect(openTestDatabase(dir)).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      message: expect.stringMatching(`schema version 99, .* up to ${STATE_MIGRATIONS.length}$`),
    });
  });

  it('keeps a copy from before a migration, which the older contextd opens again', async () => {
    const dir = await makeTempDir();
    const file = join(dir, 'contextd.db');
    const open = (migrations: readonly string[]) => createDatabase({ file, migrations, logger: silentLogger });
    const older = open(STATE_MIGRATIONS);
    await older.start();
    await older.write([{ sql: INSERT, params: ['a', value] }]);
    await older.stop();
    expect(await readdir(dir)).not.toContainEqual(expect.stringContaining('.version-'));

    const newer = open([...STATE_MIGRATIONS, 'DELETE FROM meta']);
    await newer.start();
    expect(await newer.read(COUNT)).toEqual([{ n: 0 }]);
    await newer.stop();
    const copy = `${file}.version-${STATE_MIGRATIONS.length}`;
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    const refused = open(STATE_MIGRATIONS);
    await expect(refused.start()).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      remedy: expect.stringContaining(`${file}.version-N`),
    });

    await rename(copy, file);
    await rm(`${file}-wal`, { force: true });
    const again = open(STATE_MIGRATIONS);
    await again.start();
    expect(await again.read('SELECT name FROM meta')).toEqual([{ name: 'a' }]);
    await again.stop();

    await writeFile(copy, '');
    const longAgo = new Date('2025-01-01');
    await utimes(copy, longAgo, longAgo);
    const last = open(STATE_MIGRATIONS);
    await last.start();
    await last.stop();
    expect(await readdir(dir)).not.toContainEqual(expect.stringContaining('.version-'));
  });

  it('is not migrated if no copy can be kept', async () => {
    const dir = await makeTempDir();
    const file = join(dir, 'contextd.db');
    const older = createDatabase({ file, migrations: STATE_MIGRATIONS, logger: silentLogger });
    await older.start();
    await older.stop();
    // Where the copy would be.
    await mkdir(`${file}.version-${STATE_MIGRATIONS.length}`);
    const newer = createDatabase({
      file,
      migrations: [...STATE_MIGRATIONS, 'DROP TABLE meta'],
      logger: silentLogger,
    });
    await expect(newer.start()).rejects.toMatchObject({ code: expect.any(String) });
    const again = createDatabase({ file, migrations: STATE_MIGRATIONS, logger: silentLogger });
    await again.start();
    expect(await again.read(COUNT)).toEqual([{ n: 0 }]);
    await again.stop();
  });

  it('names a page that was corrupted, and the remedy, when it is read', async () => {
    const dir = await makeTempDir();
    const file = join(dir, 'contextd.db');
    const database = await openTestDatabase(dir);
    const rows = Array.from({ length: 200 }, (_, n) => ({
      sql: INSERT,
      params: [`name-${n}`, Buffer.alloc(500, 'v')],
    }));
    await database.write(rows);
    await database.stop();
    const bytes = await readFile(file);
    const at = bytes.indexOf('name-1');
    const page = Math.floor(at / 4096) * 4096;
    bytes.fill(0xff, page, page + 4096);
    await writeFile(file, bytes);
    const opened = await openTestDatabase(dir);
    await expect(opened.read('SELECT * FROM meta')).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('is damaged or not a contextd database'),
      remedy: expect.stringContaining(`move ${file}`),
    });
  });

  it('never changes a damaged file, and names the remedy', async () => {
    const dir = await makeTempDir();
    const garbage = Buffer.alloc(8192, 'not a database ');
    await writeFile(join(dir, 'contextd.db'), garbage);
    await expect(openTestDatabase(dir)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('is damaged or not a contextd database'),
      remedy: expect.stringContaining('move'),
    });
    expect(await readFile(join(dir, 'contextd.db'))).toEqual(garbage);
  });

  it('names the place that it cannot write', async () => {
    const dir = await makeTempDir();
    await mkdir(join(dir, 'contextd.db'), { mode: 0o700 });
    await writeFile(join(dir, 'file'), '');
    await expect(openTestDatabase(dir)).rejects.toMatchObject({ code: 'PATH_INVALID' });
    await expect(openTestDatabase(join(dir, 'file'))).rejects.toMatchObject({ code: 'PATH_INVALID' });
    await expect(openTestDatabase(join(dir, 'missing'))).rejects.toMatchObject({
      code: 'PATH_INVALID',
      remedy: expect.stringContaining(join(dir, 'missing')),
    });
    expect((await stat(join(dir, 'contextd.db'))).mode & 0o777).toBe(0o700);
  });
});

describe('a batch', () => {
  it('is answered with one fault if its commit fails: no promise resolves before its commit', async () => {
    const database = new DatabaseSync(':memory:');
    database.exec(
      'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED)',
    );
    const replies = new BatchRunner(database, 'f').run([
      { id: 1, body: { kind: 'write', statements: [{ sql: 'INSERT INTO a VALUES (1)', params: [] }] } },
      { id: 2, body: { kind: 'write', statements: [{ sql: 'INSERT INTO b VALUES (7)', params: [] }] } },
    ]);
    expect(replies.map((reply) => 'fault' in reply)).toEqual([true, true]);
    expect(database.prepare('SELECT count(*) AS n FROM a').get()).toEqual({ n: 0 });
  });

  it('reports a full database as STORAGE_FULL', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 3');
    let thrown: unknown;
    try {
      database.exec('INSERT INTO t VALUES (zeroblob(100000))');
    } catch (error) {
      thrown = error;
    }
    expect(fromDatabaseFault(thrown, '/state/contextd.db')).toMatchObject({
      code: 'STORAGE_FULL',
      message: 'the disk that holds /state/contextd.db is full',
    });
  });
});

function spawnOpener(dir: string, mode: 'hold' | 'try') {
  const program = join(import.meta.dirname, '../fixtures/stores-open-database.ts');
  const child = spawn(process.execPath, [program, join(dir, 'contextd.db'), mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function openElsewhere(dir: string): Promise<string> {
  const child = spawnOpener(dir, 'try');
  const chunks = await child.stdout.toArray();
  return Buffer.concat(chunks).toString().trim();
}
