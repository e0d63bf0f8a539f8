import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { fdPath, openPlace } from './file-access.ts';
import { nameOf, parentOf, type RawPath, toSystem, toText } from './raw-path.ts';

/** Longest name that file systems accept, in bytes. */
const NAME_MAX_BYTES = 255;

/**
 * Renames `path` to `<name>.quarantined-<id>` in the same directory and returns the new path; null if `path` is gone. The
 * rename is atomic. It is safe for a root daemon in a directory that tools can write: the parent is opened first without
 * following links, and the rename happens in the opened directory. No work is lost: renaming it back accepts it. Throws
 * INTERNAL_ERROR if the rename fails, so that a dangerous file is never left in place unnoticed.
 */
export function moveAside(path: RawPath): RawPath | null {
  const suffix = `.quarantined-${randomBytes(4).toString('hex')}`;
  const name = `${nameOf(path).slice(0, NAME_MAX_BYTES - suffix.length)}${suffix}`;
  const done = inParent(path, (place) => renameSync(inPlace(place, nameOf(path)), inPlace(place, name)));
  return done ? `${parentOf(path)}/${name}` : null;
}

/** Removes an empty file or directory. Returns false and leaves it if it is anything else. */
export function removeEmpty(path: RawPath): boolean {
  let isRemoved = false;
  inParent(path, (place) => {
    const stats = lstatSync(inPlace(place, nameOf(path)), { throwIfNoEntry: false });
    try {
      if (stats?.isDirectory()) rmdirSync(inPlace(place, nameOf(path)));
      else if (stats?.isFile() && stats.size === 0) unlinkSync(inPlace(place, nameOf(path)));
      else return;
      isRemoved = true;
    } catch (cause) {
      if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
    }
  });
  return isRemoved;
}

/** Makes a symbolic link again. Does nothing if something is there. */
export function restoreLink(path: RawPath, text: RawPath): void {
  inParent(path, (place) => {
    try {
      symlinkSync(toSystem(text), inPlace(place, nameOf(path)));
    } catch (cause) {
      if (!isErrno(cause, 'EEXIST')) throw cause;
    }
  });
}

/**
 * Gives a path that was moved aside its name back, in the same directory and as safely as `moveAside`. `taken`: something
 * else has the name, and nothing was changed; `gone`: there is nothing to move.
 */
export function putBack(moved: RawPath, path: RawPath): 'done' | 'taken' | 'gone' {
  const fd = openPlace(parentOf(moved));
  if (fd === null) return 'gone';
  try {
    return workIn(fdPath(fd), (place) => renameBack(inPlace(place, nameOf(moved)), inPlace(place, nameOf(path))));
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return 'gone';
    throw new ContextdError('INTERNAL_ERROR', `${toText(moved)} could not be renamed to ${nameOf(toText(path))}`, {
      remedy: 'Rename it yourself; that accepts it as well.',
      cause,
    });
  } finally {
    closeSync(fd);
  }
}

/** Node has no rename that refuses to replace a file. A hard link refuses; renaming a directory replaces at most an empty one. */
function renameBack(from: string | Buffer, to: string | Buffer): 'done' | 'taken' {
  const isDirectory = lstatSync(from).isDirectory();
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return 'taken';
  try {
    if (isDirectory || !linkIfPossible(from, to)) renameSync(from, to);
    else unlinkSync(from);
    return 'done';
  } catch (cause) {
    if (isErrno(cause, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR')) return 'taken';
    throw cause;
  }
}

/** Returns false if the file system has no hard links or the kernel does not allow one to a file of another user. */
function linkIfPossible(from: string | Buffer, to: string | Buffer): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) return false;
    throw cause;
  }
}

function inPlace(place: string, name: string): string | Buffer {
  return toSystem(`${place}/${name}`);
}

/** Calls `work` in the parent of `path`, and makes the parent writable for it if a tool has closed it. False if it is gone. */
function inParent(path: RawPath, work: (place: string) => void): boolean {
  const fd = openPlace(parentOf(path));
  if (fd === null) return false;
  try {
    workIn(fdPath(fd), work);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false;
    throw new ContextdError('INTERNAL_ERROR', `the command made ${toText(path)}, which could not be moved aside`, {
      remedy: `Look at ${toText(path)} and remove it before using the workspace.`,
      cause,
    });
  } finally {
    closeSync(fd);
  }
}

function workIn<T>(place: string, work: (place: string) => T): T {
  try {
    return work(place);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES')) throw cause;
    const mode = statSync(place).mode & 0o7777;
    chmodSync(place, mode | 0o300);
    try {
      return work(place);
    } finally {
      chmodSync(place, mode);
    }
  }
}
