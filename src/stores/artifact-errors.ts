import { ContextdError, isErrno } from '../core/errors.ts';

export function unknownArtifact(id: string): ContextdError {
  return new ContextdError('NOT_FOUND', `this session has no artifact ${id.slice(0, 40)}`, {
    remedy: 'Use an id from the refs of an answer of this session.',
  });
}

export function expiredArtifact(id: string): ContextdError {
  return new ContextdError('EXPIRED', `artifact ${id} has expired and was removed`, {
    remedy: 'Run the command again.',
  });
}

/** A recursive mkdir on a read-only file system says ENOENT. */
const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOENT'];

/** What the file system threw below `dir`. */
export function fromArtifactFault(thrown: unknown, dir: string): ContextdError {
  if (!isErrno(thrown, ...UNWRITABLE)) return ContextdError.from(thrown);
  return new ContextdError('PATH_INVALID', `cannot write artifacts to ${dir} (${thrown.code})`, {
    remedy: 'Make it a writable folder of this user, or set CONTEXTD_HOME to one.',
    details: { path: dir },
    cause: thrown,
  });
}

export function checkRange(start: number, end: number): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return;
  throw new ContextdError('ARGS_INVALID', `${start}-${end} is not a byte range of an artifact`, {
    remedy: 'Ask for 0 <= start <= end.',
    details: { start, end },
  });
}
