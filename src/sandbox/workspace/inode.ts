import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { type RawPath, toSystem } from './raw-path.ts';

/** A Linux value that node:fs has no name for. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, S_IFMT } = constants;

/** lstat; null where nothing is, and past the system's limit on paths. Throws EACCES behind a closed directory. */
export function statAt(path: RawPath): Stats | null {
  return orNull(() => lstatSync(toSystem(path), { throwIfNoEntry: false }) ?? null);
}

/** As `statAt`, with inode numbers that are exact. */
export function exactStatAt(path: RawPath): BigIntStats | null {
  return orNull(() => lstatSync(toSystem(path), { throwIfNoEntry: false, bigint: true }) ?? null);
}

/**
 * Kind, device, inode and birth: what makes it this file and not another under the same name. Birth, because the number
 * of a removed file is given to the next one that is made; it is 0 where the file system does not keep it.
 */
export function identityOf(stats: BigIntStats): string {
  return `${stats.mode & BigInt(S_IFMT)}:${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

export function linkTextAt(path: RawPath): string {
  return readlinkSync(toSystem(path), 'latin1');
}

/** Where a path leads, links followed; null when it leads nowhere. */
export function realPathOf(path: RawPath): RawPath | null {
  return orNull(() => realpathSync.native(toSystem(path), 'latin1'), 'EACCES', 'EINVAL');
}

/** Name of an open file in /proc, through which further calls reach that very file whatever happens to its path. */
export function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

/** A directory opened for reading, no link followed anywhere in its path; null when it is not there (any more). */
export function openDirectory(path: RawPath): number | null {
  return openVerified(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

/** A directory as a place to work in, for which it need not be readable. */
export function openPlace(path: RawPath): number | null {
  return openVerified(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

/** What a small file says, byte by byte; null unless it is a regular file with one name and at most `maxBytes`. */
export function readSmallFile(path: RawPath, maxBytes: number): string | null {
  const fd = openVerified(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd === null) return null;
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.nlink !== 1 || stats.size > maxBytes) return null;
    const buffer = Buffer.alloc(maxBytes + 1);
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    return length > maxBytes ? null : buffer.toString('latin1', 0, length);
  } finally {
    closeSync(fd);
  }
}

function openVerified(path: RawPath, flags: number): number | null {
  const fd = orNull(() => openSync(toSystem(path), flags), 'ENXIO');
  if (fd === null) return null;
  if (readlinkSync(fdPath(fd), 'latin1') === path) return fd;
  closeSync(fd);
  return null;
}

function orNull<T>(work: () => T, ...more: string[]): T | null {
  try {
    return work();
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', ...more)) return null;
    throw cause;
  }
}
