import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ContextdError } from '../core/errors.ts';
import { openDatabase } from '../stores/sqlite-engine.ts';
import { dropRebuilt, versionOf } from './create.ts';
import type { Manifest } from './manifest.ts';
import { BACKED_UP, type BackedUpDatabase, leftOut } from './tables.ts';
import { contentsInFiles, setTags } from './tags.ts';

/** A content in a file, and the name that it gets: its hash with the new key. */
export interface NamedContent {
  readonly from: string;
  readonly name: string;
}

/**
 * Makes databases of this machine of those that were unpacked to `dir`: checks that nothing but their tables is in them, migrates
 * them, and gives them a key. Returns the contents that are files. Throws INTEGRITY_FAILED and STORAGE_FULL.
 */
export async function prepareDatabases(dir: string, { schemas }: Manifest): Promise<NamedContent[]> {
  try {
    for (const one of BACKED_UP) prepare(join(dir, one.entry), one, schemas[one.entry] ?? 0);
    return await nameContents(join(dir, 'contextd.db'), join(dir, 'artifacts'));
  } catch (thrown) {
    if (thrown instanceof ContextdError && thrown.code === 'STORAGE_FULL') throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ContextdError('INTEGRITY_FAILED', `a database of this backup is not as contextd makes it: ${why}`, {
      remedy: 'Nothing was changed. Use another copy of the backup.',
      cause: thrown,
    });
  }
}

function prepare(file: string, one: BackedUpDatabase, version: number): void {
  checkSchema(file, one, version);
  openDatabase({ file, migrations: one.migrations }).close();
  const database = new DatabaseSync(file);
  try {
    // A backup that someone changed could bring tokens or answers along.
    for (const table of leftOut(one)) database.exec(`DELETE FROM ${table}`);
    dropRebuilt(database, one);
  } finally {
    database.close();
  }
}

/** Triggers, views and tables of others would act in the daemon. */
function checkSchema(file: string, { entry, migrations }: BackedUpDatabase, version: number): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const fresh = new DatabaseSync(':memory:');
  try {
    if (versionOf(database) !== version) throw new Error(`${entry} has another version than the backup says`);
    for (const migration of migrations.slice(0, version)) fresh.exec(migration);
    if (schemaOf(database) !== schemaOf(fresh)) throw new Error(`${entry} has other tables than version ${version}`);
    const faults = database.prepare('PRAGMA quick_check(1)').all();
    if (JSON.stringify(faults) !== '[{"quick_check":"ok"}]') throw new Error(`${entry} is damaged`);
  } finally {
    database.close();
    fresh.close();
  }
}

function schemaOf(database: DatabaseSync): string {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all();
  return JSON.stringify(rows);
}

async function nameContents(file: string, artifacts: string): Promise<NamedContent[]> {
  const state = new DatabaseSync(file);
  try {
    const hashFile = setTags(state);
    const rename = state.prepare('UPDATE contents SET hash = ? WHERE id = ?');
    const named: NamedContent[] = [];
    for (const { id, bytes } of contentsInFiles(state)) {
      const from = join(artifacts, String(id));
      if ((await stat(from)).size !== bytes) throw new Error(`the artifact ${id} has not ${bytes} bytes`);
      const hash = hashFile();
      for await (const chunk of createReadStream(from)) hash.update(chunk);
      const digest = hash.digest();
      rename.run(digest, id);
      named.push({ from, name: digest.toString('hex') });
    }
    return named;
  } finally {
    state.close();
  }
}
