/** The thread's side of a database: opening the file, running batches, and what SQLite's errors mean. */
import { chmodSync, closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite';
import { ContextdError, isErrno } from '../core/errors.ts';
import { packError, type WireError } from '../core/wire-error.ts';

/** A value as SQLite stores it. */
export type SqlValue = null | number | string | Uint8Array;
export type Row = Readonly<Record<string, unknown>>;

/** One SQL text (prepared once, kept by its text) and its positional parameters. */
export interface Statement {
  sql: string;
  params: readonly SqlValue[];
}

/** Which file to open, and its schema. */
export interface DatabaseFile {
  /** Absolute path; its folder exists. */
  file: string;
  /** Entry n takes the file from version n to n + 1 (`PRAGMA user_version`). Entries are only ever appended. */
  migrations: readonly string[];
  /** True: what was written survives a power loss too, for a tenth of a millisecond each time. Default: false. */
  durable?: boolean;
}

/** A message to the thread. The statements of one `write` are carried out together or not at all. */
export type DatabaseRequest =
  | ({ kind: 'open' } & DatabaseFile)
  | { kind: 'read' | 'write'; statements: readonly Statement[] }
  | { kind: 'copy'; to: string }
  | { kind: 'close' };

/** Rows of each statement of the request, in order. */
export type DatabaseResult = readonly Row[][];

export interface Envelope<Body> {
  id: number;
  body: Body;
}

export type Reply<Result> = { id: number; result: Result } | { id: number; fault: WireError };

export type Work = Envelope<{ kind: 'read' | 'write'; statements: readonly Statement[] }>;

/**
 * Opens a database that only this process may own, and migrates it to the newest schema. It survives the death of the
 * process; unless it is durable, a power loss can cost the last writes but never the consistency.
 * Errors: CONFLICT (another owner), VERSION_MISMATCH (a newer contextd wrote it), PATH_INVALID, STORAGE_FULL,
 * INTERNAL_ERROR (damaged).
 */
export function openDatabase({ file, migrations, durable = false }: DatabaseFile): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createPrivately(file);
    database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 0 });
    configure(database, durable);
    migrate(database, file, migrations);
    return database;
  } catch (thrown) {
    if (database?.isOpen) database.close();
    throw fromDatabaseFault(thrown, file);
  }
}

/**
 * SQLite gives its log the mode of the database, so the file gets 0600 before SQLite opens it. Only a new file is
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

/** EXCLUSIVE comes before WAL: the index then lives in this process, and no second process can open the file. */
function configure(database: DatabaseSync, durable: boolean): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // Deleted content is overwritten: a text is replaced when a secret was found in it.
  database.exec('PRAGMA secure_delete = ON');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
  database.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  database.exec('BEGIN IMMEDIATE; COMMIT');
}

function migrate(database: DatabaseSync, file: string, migrations: readonly string[]): void {
  const version = readVersion(database);
  if (version > migrations.length) throw newerVersion(file, version, migrations.length);
  removeOldCopies(file);
  if (version > 0 && version < migrations.length) copyBefore(database, file, version);
  for (let next = version; next < migrations.length; next++) {
    database.exec(`BEGIN IMMEDIATE; ${migrations[next]}; PRAGMA user_version = ${next + 1}; COMMIT`);
  }
}

/** Milliseconds for which the copy of a database before a migration is kept. It holds what was masked since. */
const COPY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Pages that are copied at a time: requests that arrive meanwhile wait for no more. */
const COPY_PAGES = 1_000;

/** Writes the database as it is at the end of the copy to a new file, 0600, while it goes on to be used. */
export async function copyDatabase(database: DatabaseSync, to: string): Promise<void> {
  createPrivately(to);
  await backup(database, to, { rate: COPY_PAGES });
}

/** A whole copy beside the database, as the older contextd left it. Without it nothing is migrated. */
function copyBefore(database: DatabaseSync, file: string, version: number): void {
  const copy = `${file}.version-${version}`;
  rmSync(copy, { force: true });
  createPrivately(copy);
  database.prepare('VACUUM INTO ?').run(copy);
}

function removeOldCopies(file: string): void {
  const [dir, start] = [dirname(file), `${basename(file)}.version-`];
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (name.startsWith(start) && statSync(path).mtimeMs < Date.now() - COPY_KEPT_MS) rmSync(path, { force: true });
  }
}

function readVersion(database: DatabaseSync): number {
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  return typeof version === 'number' ? version : 0;
}

/** Runs queued requests as one transaction. A reply exists only once its transaction is committed. */
export class BatchRunner {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  run(batch: readonly Work[]): Reply<DatabaseResult>[] {
    try {
      if (!batch.some((work) => work.body.kind === 'write')) return batch.map((work) => this.#answer(work));
      this.#database.exec('BEGIN IMMEDIATE');
      const replies = batch.map((work) => this.#answer(work));
      this.#database.exec('COMMIT');
      return replies;
    } catch (thrown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const fault = packError(fromDatabaseFault(thrown, this.#file));
      return batch.map(({ id }) => ({ id, fault }));
    }
  }

  /** Runs one request. Its fault fails only itself, unless SQLite gave up the whole transaction. */
  #answer({ id, body }: Work): Reply<DatabaseResult> {
    const atomic = body.kind === 'write' && body.statements.length > 1;
    const inTransaction = this.#database.isTransaction;
    try {
      if (atomic) this.#database.exec('SAVEPOINT request');
      const result = body.statements.map((statement) => this.#execute(statement));
      if (atomic) this.#database.exec('RELEASE request');
      return { id, result };
    } catch (thrown) {
      if (inTransaction && !this.#database.isTransaction) throw thrown;
      if (atomic) this.#database.exec('ROLLBACK TO request; RELEASE request');
      return { id, fault: packError(fromDatabaseFault(thrown, this.#file)) };
    }
  }

  #execute({ sql, params }: Statement): Row[] {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#database.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared.all(...params);
  }
}

/** Primary result codes of SQLite (the low byte of an extended code). */
const SQLITE = { perm: 3, busy: 5, locked: 6, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26 };

/** Turns what SQLite or the file system threw about the database `file` into an error that a person can act on. */
export function fromDatabaseFault(thrown: unknown, file: string): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  switch (primaryCode(thrown)) {
    case SQLITE.busy:
    case SQLITE.locked:
      return heldByAnother(file, thrown);
    case SQLITE.full:
      return storageFull(file, thrown);
    case SQLITE.corrupt:
    case SQLITE.notadb:
      return damagedDatabase(file, thrown);
    case SQLITE.perm:
    case SQLITE.readonly:
    case SQLITE.cantopen:
      return notWritable(file, thrown);
    case SQLITE.ioerr:
      return unreadable(file, thrown);
    default:
      return fromSystemFault(thrown, file);
  }
}

function fromSystemFault(thrown: unknown, file: string): ContextdError {
  if (isErrno(thrown, 'ENOSPC', 'EDQUOT')) return storageFull(file, thrown);
  if (isErrno(thrown, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR')) return notWritable(file, thrown);
  return new ContextdError('INTERNAL_ERROR', `the database ${file} failed: ${reasonOf(thrown)}`, {
    remedy: 'See `ctxd server logs` for the cause.',
    cause: thrown,
  });
}

/** Undefined if the error did not come from SQLite. */
function primaryCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return undefined;
  return thrown.errcode & 0xff;
}

function newerVersion(file: string, version: number, newest: number): ContextdError {
  return new ContextdError(
    'VERSION_MISMATCH',
    `${file} has schema version ${version}, and this contextd knows versions up to ${newest}`,
    {
      remedy: `Install the newer contextd that wrote it, put back the copy ${file}.version-N from before its migration if there is one, or set CONTEXTD_HOME to another folder.`,
    },
  );
}

function heldByAnother(file: string, cause: unknown): ContextdError {
  return new ContextdError('CONFLICT', `another contextd holds ${file}`, {
    remedy: 'Stop it with `ctxd server stop`, or set CONTEXTD_HOME to another folder.',
    cause,
  });
}

function storageFull(file: string, cause: unknown): ContextdError {
  return new ContextdError('STORAGE_FULL', `the disk that holds ${file} is full`, {
    remedy: 'Free disk space and call again.',
    cause,
  });
}

export function damagedDatabase(file: string, cause: unknown): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `${file} is damaged or not a contextd database: ${reasonOf(cause)}`, {
    remedy: `Stop contextd, move ${file} and ${file}-wal to another folder to keep them, start it, then run \`ctxd init\` in each project.`,
    cause,
  });
}

function notWritable(file: string, cause: unknown): ContextdError {
  return new ContextdError('PATH_INVALID', `cannot open ${file} for writing: ${reasonOf(cause)}`, {
    remedy: `Make ${dirname(file)} a writable folder of this user, or set CONTEXTD_HOME to one.`,
    cause,
  });
}

function unreadable(file: string, cause: unknown): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `the system could not read or write ${file}: ${reasonOf(cause)}`, {
    remedy: 'Check the disk (`dmesg`, free space), then `ctxd server restart`.',
    cause,
  });
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
