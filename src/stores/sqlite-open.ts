import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { ContextdError, isErrno } from '../core/errors.ts';
import { MIGRATIONS } from './migrations.ts';
import { fromDatabaseFault } from './sqlite-errors.ts';

/**
 * Opens the database this process is to own alone, and brings it to the newest schema. Survives the death of the
 * process; with `synchronous=NORMAL` a power loss may take the last moments, never the consistency.
 * Errors: CONFLICT (another owner), VERSION_MISMATCH (a newer contextd wrote it), PATH_INVALID, STORAGE_FULL,
 * INTERNAL_ERROR (damaged).
 */
export function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createPrivately(file);
    database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 0 });
    configure(database);
    migrate(database, file);
    return database;
  } catch (thrown) {
    if (database?.isOpen) database.close();
    throw fromDatabaseFault(thrown, file);
  }
}

/**
 * SQLite gives its log the mode of the database, so 0600 is set before SQLite comes. Only a file that is new is
 * opened here: closing any descriptor of a database drops the locks this process holds on it (POSIX).
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    if (!isErrno(thrown, 'EEXIST')) throw thrown;
    if (statSync(file).isFile()) chmodSync(file, 0o600);
  }
}

/** EXCLUSIVE comes before WAL: then the index lives in this process and no second process can open the file. */
function configure(database: DatabaseSync): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // What is deleted is overwritten: a text is replaced when a secret was found in it.
  database.exec('PRAGMA secure_delete = ON');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  database.exec('BEGIN IMMEDIATE; COMMIT');
}

function migrate(database: DatabaseSync, file: string): void {
  const version = readVersion(database);
  if (version > MIGRATIONS.length) throw newerThanThis(file, version);
  for (let next = version; next < MIGRATIONS.length; next++) {
    database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[next]}; PRAGMA user_version = ${next + 1}; COMMIT`);
  }
}

function readVersion(database: DatabaseSync): number {
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  return typeof version === 'number' ? version : 0;
}

function newerThanThis(file: string, version: number): ContextdError {
  return new ContextdError(
    'VERSION_MISMATCH',
    `${file} has schema version ${version}, and this contextd knows versions up to ${MIGRATIONS.length}`,
    { remedy: 'Install the newer contextd that wrote it, or set CONTEXTD_HOME to another folder.' },
  );
}
