import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { O_PATH } from '../../core/descriptors.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { fdPath, openFile, openPlace } from '../../fs/file-access.ts';
import { nameOf, parentOf, type RawPath, toSystem, toText } from '../../fs/raw-path.ts';

/** Longest name that file systems accept, in bytes. */
const NAME_MAX_BYTES = 255;
/** Characters of the id at the end of a new name. */
const ID_LENGTH = 8;
const COPY_CHUNK_BYTES = 256 * 1024;

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Eight hexadecimal digits. */
export function newId(): string {
  return randomBytes(ID_LENGTH / 2).toString('hex');
}

/**
 * Renames `path` to `<name>.quarantined-<id>` in the same directory and returns the new path; null if `path` is gone. For what
 * the store of the workspace cannot take. The rename is atomic. It is safe for a root daemon in a directory that tools can
 * write: the parent is opened first without following links, and the rename happens in the opened directory. No work is lost:
 * renaming it back accepts it. Throws INTERNAL_ERROR if the rename fails, so that a dangerous file is never left in place
 * unnoticed.
 */
export function moveAside(path: RawPath): RawPath | null {
  const suffix = `.quarantined-${newId()}`;
  const name = `${nameOf(path).slice(0, NAME_MAX_BYTES - suffix.length)}${suffix}`;
  const done = inParent(path, (place) => renameSync(inPlace(place, nameOf(path)), inPlace(place, name)));
  return done ? `${parentOf(path)}/${name}` : null;
}

/**
 * Moves `path` into the directory `place` under its own name, as safely as `moveAside`. Returns false if it is gone. Throws
 * what the file system says.
 */
export function moveInto(path: RawPath, place: RawPath): boolean {
  const from = openPlace(parentOf(path));
  const to = from === null ? null : openPlace(place);
  try {
    if (from === null || to === null) return false;
    const name = nameOf(path);
    workIn(fdPath(from), (dir) => rename(inPlace(dir, name), inPlace(fdPath(to), name)));
    return true;
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false;
    throw cause;
  } finally {
    for (const fd of [from, to]) if (fd !== null) closeSync(fd);
  }
}

/** rename(2). A directory that moves to another parent must be writable, so it is opened for that moment. */
export function rename(from: string | Buffer, to: string | Buffer): void {
  try {
    renameSync(from, to);
  } catch (cause) {
    const fd = isErrno(cause, 'EACCES') && lstatSync(from).isDirectory() ? openHere(from) : null;
    if (fd === null) throw cause;
    try {
      withMode(fdPath(fd), 0o300, () => renameSync(from, to));
    } finally {
      closeSync(fd);
    }
  }
}

/** Opens a directory, if it is one and not a link, in order to work in it. Only for a path whose parent is open. */
export function openHere(path: string | Buffer): number {
  return openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

/**
 * Copies a set-aside file to another name of the same form beside it, and returns the new path. Null if it is not a regular
 * file with one name. Throws what the file system says.
 */
export function copyBeside(moved: RawPath): RawPath | null {
  const copy = `${moved.slice(0, -ID_LENGTH)}${newId()}`;
  return copyFile(moved, copy) ? copy : null;
}

/**
 * Copies a file with its mode and owner to a new path. Returns false if it is not a regular file with one name. Throws what the
 * file system says.
 */
export function copyFile(path: RawPath, copy: RawPath): boolean {
  const from = openFile(path);
  const place = from === null ? null : openPlace(parentOf(copy));
  try {
    if (from === null || place === null || fstatSync(from).nlink !== 1) return false;
    workIn(fdPath(place), (dir) => copyTo(from, inPlace(dir, nameOf(copy))));
    return true;
  } finally {
    for (const fd of [from, place]) if (fd !== null) closeSync(fd);
  }
}

/** Gives a name in an open directory to a copy of its file, with the same mode and owner. Throws what the file system says. */
export function replaceByCopy(place: string, name: string): void {
  const draft = inPlace(place, newId());
  const from = openSync(inPlace(place, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(from).isFile()) return;
    copyTo(from, draft);
    renameSync(draft, inPlace(place, name));
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  } finally {
    closeSync(from);
  }
}

function copyTo(from: number, path: string | Buffer): void {
  const { mode, uid, gid } = fstatSync(from);
  const to = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    const chunk = Buffer.allocUnsafe(COPY_CHUNK_BYTES);
    for (let length = readSync(from, chunk); length > 0; length = readSync(from, chunk))
      writeSync(to, chunk, 0, length);
    if (process.getuid?.() === 0) fchownSync(to, uid, gid);
    fchmodSync(to, mode & 0o7777);
  } finally {
    closeSync(to);
  }
}

/** Removes a name that is not a directory, as safely as `moveAside`. Nothing happens if it is gone. */
export function removeFile(path: RawPath): void {
  inParent(path, (place) => unlinkSync(inPlace(place, nameOf(path))));
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

/** Removes what is not a directory, if `isIt` accepts it. Returns whether it did. Throws what `moveAside` throws. */
export function removeAt(path: RawPath, isIt: (stats: Stats) => boolean): boolean {
  let isRemoved = false;
  inParent(path, (place) => {
    const stats = lstatSync(inPlace(place, nameOf(path)), { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory() || !isIt(stats)) return;
    unlinkSync(inPlace(place, nameOf(path)));
    isRemoved = true;
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
 * Moves a path that was moved aside back to where it was, as safely as `moveAside`. `taken`: something else has the name, and
 * nothing was changed; `gone`: there is nothing to move; `no_parent`: the directory it was in is gone, or is a link now.
 */
export function putBack(moved: RawPath, path: RawPath): 'done' | 'taken' | 'gone' | 'no_parent' {
  const from = openPlace(parentOf(moved));
  const to = from === null ? null : openPlace(parentOf(path));
  try {
    if (from === null) return 'gone';
    if (to === null) return 'no_parent';
    return workIn(fdPath(to), (place) =>
      workIn(fdPath(from), (dir) => renameBack(inPlace(dir, nameOf(moved)), inPlace(place, nameOf(path)))),
    );
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return 'gone';
    throw new ContextdError('INTERNAL_ERROR', `${toText(moved)} could not be moved to ${toText(path)}`, {
      remedy: 'Move it there yourself; that accepts it as well.',
      cause,
    });
  } finally {
    for (const fd of [from, to]) if (fd !== null) closeSync(fd);
  }
}

/** Node has no rename that refuses to replace a file. A hard link refuses; renaming a directory replaces at most an empty one. */
function renameBack(from: string | Buffer, to: string | Buffer): 'done' | 'taken' {
  const isDirectory = lstatSync(from).isDirectory();
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return 'taken';
  try {
    if (isDirectory || !linkIfPossible(from, to)) rename(from, to);
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

/** A name in an open directory, as node:fs takes it. */
export function inPlace(place: string, name: string): string | Buffer {
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
    return withMode(place, 0o300, () => work(place));
  }
}

/** `place`: an open directory. It keeps its mode. */
function withMode<T>(place: string, more: number, work: () => T): T {
  const mode = statSync(place).mode & 0o7777;
  chmodSync(place, mode | more);
  try {
    return work();
  } finally {
    chmodSync(place, mode);
  }
}
