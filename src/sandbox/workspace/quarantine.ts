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
import { fdPath, openPlace } from './inode.ts';
import { nameOf, parentOf, type RawPath, toSystem, toText } from './raw-path.ts';

/** Bytes of the longest name that file systems take. */
const NAME_MAX_BYTES = 255;

/**
 * Renames `path` to `<name>.quarantined-<id>` beside itself and returns that: one rename of the last component, atomic,
 * on the same file system. Safe for a root daemon in a directory that tools write: the parent is opened first, no link
 * followed, and the rename happens in that very directory. Null when it is not there any more. Nobody loses work:
 * renaming it back accepts it. Throws INTERNAL_ERROR rather than leave it armed.
 */
export function moveAside(path: RawPath): RawPath | null {
  const suffix = `.quarantined-${randomBytes(4).toString('hex')}`;
  const name = `${nameOf(path).slice(0, NAME_MAX_BYTES - suffix.length)}${suffix}`;
  const done = inParent(path, (place) => renameSync(inPlace(place, nameOf(path)), inPlace(place, name)));
  return done ? `${parentOf(path)}/${name}` : null;
}

/** Removes an empty file or directory, which nobody misses. False when it is something else, and stays. */
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

/** Puts a symbolic link back. Nothing happens when something is there. */
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
 * Gives what was moved aside its name back, in the directory it is in, as safely as `moveAside`. `taken`: something has that
 * name, and nothing happened; `gone`: there is nothing to move.
 */
export function putBack(moved: RawPath, path: RawPath): 'done' | 'taken' | 'gone' {
  const fd = openPlace(parentOf(moved));
  if (fd === null) return 'gone';
  try {
    return workIn(fdPath(fd), (place) => renameBack(inPlace(place, nameOf(moved)), inPlace(place, nameOf(path))));
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return 'gone';
    throw new ContextdError('INTERNAL_ERROR', `${toText(moved)} could not be renamed to ${nameOf(toText(path))}`, {
      remedy: 'Rename it yourself, which accepts it too.',
      cause,
    });
  } finally {
    closeSync(fd);
  }
}

/** Node has no rename that refuses to replace: a link does, and the rename of a directory replaces an empty one at most. */
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

/** False where the file system has no hard links, or the kernel allows none to a file of another user. */
function linkIfPossible(from: string | Buffer, to: string | Buffer): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) return false;
    throw cause;
  }
}

/** Gives the owner back the right to look into a directory. False when it is not there. */
export function reopenDirectory(path: RawPath): boolean {
  const fd = openPlace(path);
  if (fd === null) return false;
  try {
    chmodSync(fdPath(fd), (statSync(fdPath(fd)).mode & 0o7777) | 0o700);
    return true;
  } finally {
    closeSync(fd);
  }
}

function inPlace(place: string, name: string): string | Buffer {
  return toSystem(`${place}/${name}`);
}

/** Works in the parent of `path`, which is made writable for it where a tool has closed it. False when it is gone. */
function inParent(path: RawPath, work: (place: string) => void): boolean {
  const fd = openPlace(parentOf(path));
  if (fd === null) return false;
  try {
    workIn(fdPath(fd), work);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false;
    throw new ContextdError('INTERNAL_ERROR', `the command made ${toText(path)}, and it could not be moved away`, {
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
