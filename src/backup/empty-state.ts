import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Paths } from '../config/paths.ts';
import { ContextdError, isErrno } from '../core/errors.ts';
import { integerOf } from '../stores/sqlite.ts';
import { fromDatabaseFault } from '../stores/sqlite-engine.ts';
import { BACKED_UP, type BackedUpDatabase } from './tables.ts';

/** Where a database of a backup belongs. */
export function placeOf(
  { entry }: BackedUpDatabase,
  { stateDb, memoryDb, sessionDb }: Pick<Paths, 'stateDb' | 'memoryDb' | 'sessionDb'>,
): string {
  return { 'contextd.db': stateDb, 'memory.db': memoryDb, 'sessions.db': sessionDb }[entry];
}

/**
 * Locks an empty state, so that no daemon starts with it until `close`. Its files may then be replaced. Throws CONFLICT if a
 * daemon has it, or if it is not empty.
 */
export function holdEmptyState(paths: Paths): { close(): void } {
  const held: DatabaseSync[] = [];
  const close = (): void => {
    for (const database of held) if (database.isOpen) database.close();
  };
  try {
    for (const one of BACKED_UP) {
      const file = placeOf(one, paths);
      // The state database is the lock of the daemon, and is made for that if it is missing.
      if (file === paths.stateDb) createPrivately(file);
      if (existsSync(file)) hold(file, one, held, paths);
    }
    // With the lock, so that no daemon writes there meanwhile.
    const kept = projectFolders(paths).find(holdsFiles);
    if (kept !== undefined) throw notEmpty(`${kept} has files of undo, checkpoints or branches`, paths);
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { close };
}

function hold(file: string, one: BackedUpDatabase, held: DatabaseSync[], paths: Paths): void {
  try {
    const database = new DatabaseSync(file, { timeout: 0 });
    held.push(database);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const present = one.content.find((table) => hasRows(database, table));
    database.exec('COMMIT');
    if (present !== undefined) throw notEmpty(`${file} has ${present.replaceAll('_', ' ')}`, paths);
    // Without a log beside it, so that the database which takes its place does not get that log.
    database.exec('PRAGMA journal_mode = DELETE');
  } catch (thrown) {
    throw fromDatabaseFault(thrown, file);
  }
}

function hasRows(database: DatabaseSync, table: string): boolean {
  const known = database.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`).get(table);
  if (known === undefined) return false;
  return (
    integerOf(database.prepare(`SELECT EXISTS (SELECT 1 FROM ${table}) AS has_rows`).get() ?? {}, 'has_rows') === 1
  );
}

/** Where a backup puts files of projects. */
export function projectFolders({ undoDir, layersDir }: Pick<Paths, 'undoDir' | 'layersDir'>): string[] {
  return [undoDir, layersDir];
}

/** False for empty directories, which a daemon makes when it starts. */
function holdsFiles(dir: string): boolean {
  if (!existsSync(dir)) return false;
  return readdirSync(dir, { recursive: true, withFileTypes: true }).some((entry) => !entry.isDirectory());
}

function notEmpty(what: string, { dataDir, stateDir }: Paths): ContextdError {
  return new ContextdError('CONFLICT', `the state is not empty: ${what}`, {
    remedy: `Nothing was changed. Set CONTEXTD_HOME to a new folder, or stop the daemon and move ${dataDir} and ${stateDir} elsewhere first.`,
  });
}

function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw ContextdError.from(error);
  }
}
