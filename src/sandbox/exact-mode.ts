import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, type Stats } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/** For anything but its owner to write. */
const FOREIGN_WRITE = 0o022;

/**
 * A directory of this user with exactly `mode`, whatever the umask: made if it is missing, given the mode if it has
 * another one. Throws an Error that names what stands there: a link, a file, another user's directory, or one that
 * others could write to and may have filled. Its parent must exist.
 */
export function ensureDir(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
  }
  const fd = openOwn(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    settle(path, fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** An empty file, as `ensureDir` makes a directory. */
export function ensureEmptyFile(path: string, mode: number): void {
  const fd = openOwn(path, constants.O_RDONLY | constants.O_CREAT | constants.O_NONBLOCK, mode);
  try {
    const { size, nlink } = settle(path, fd, mode, (stats) => stats.isFile());
    if (size > 0 || nlink > 1) throw new Error(`${path} is not an empty file with one name`);
  } finally {
    closeSync(fd);
  }
}

/** Never through a link. */
function openOwn(path: string, flags: number, mode?: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW, mode);
  } catch (cause) {
    if (!isErrno(cause, 'ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO')) throw cause;
    throw new Error(`${path} is a link, or not what contextd keeps there`, { cause });
  }
}

function settle(path: string, fd: number, mode: number, isKind: (stats: Stats) => boolean = () => true): Stats {
  const stats = fstatSync(fd);
  const own = process.geteuid?.() ?? stats.uid;
  if (!isKind(stats)) throw new Error(`${path} is not what contextd keeps there`);
  if (stats.uid !== own) throw new Error(`${path} belongs to uid ${stats.uid}, not to uid ${own}`);
  if ((stats.mode & FOREIGN_WRITE & ~mode) !== 0) {
    throw new Error(`${path} has mode ${(stats.mode & 0o7777).toString(8)}: other users can write to it`);
  }
  if ((stats.mode & 0o7777) !== mode) fchmodSync(fd, mode);
  return stats;
}
