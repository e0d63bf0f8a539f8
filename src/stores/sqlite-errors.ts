import { dirname } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';

/** Primary result codes of SQLite (the low byte of an extended code). */
const SQLITE = { perm: 3, busy: 5, locked: 6, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26 };

/** What SQLite or the file system threw about the database `file`, as an error a person can act on. */
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
      return corrupt(file, thrown);
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

/** Undefined when the error is not SQLite's. */
function primaryCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return undefined;
  return thrown.errcode & 0xff;
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

function corrupt(file: string, cause: unknown): ContextdError {
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
