import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, renameSync, rmdirSync, statSync, symlinkSync, unlinkSync } from 'node:fs';
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

function workIn(place: string, work: (place: string) => void): void {
  try {
    work(place);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES')) throw cause;
    const mode = statSync(place).mode & 0o7777;
    chmodSync(place, mode | 0o300);
    try {
      work(place);
    } finally {
      chmodSync(place, mode);
    }
  }
}
