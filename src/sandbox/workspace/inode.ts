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
import { PATH_MAX_BYTES, type RawPath, toSystem } from './raw-path.ts';

/** A Linux value that node:fs has no name for. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, S_IFMT } = constants;

/** lstat; null where nothing is. Throws EACCES behind a closed directory. */
export function statAt(path: RawPath): Stats | null {
  return orNull(() => reach(path, (near) => lstatSync(near, { throwIfNoEntry: false }) ?? null));
}

/** As `statAt`, with inode numbers that are exact. */
export function exactStatAt(path: RawPath): BigIntStats | null {
  return orNull(() => reach(path, (near) => lstatSync(near, { throwIfNoEntry: false, bigint: true }) ?? null));
}

/**
 * Kind, device, inode and birth: what makes it this file and not another under the same name. Birth, because the number
 * of a removed file is given to the next one that is made; it is 0 where the file system does not keep it.
 */
export function identityOf(stats: BigIntStats): string {
  return `${stats.mode & BigInt(S_IFMT)}:${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

export function linkTextAt(path: RawPath): string {
  return reach(path, (near) => readlinkSync(near, 'latin1'));
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

/** A file opened for reading, without waiting for the other end of a pipe; null unless it is a regular one. */
export function openFile(path: RawPath): number | null {
  const fd = openVerified(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd === null || fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** What a small file says, byte by byte; null unless it is a regular file with one name and at most `maxBytes`. */
export function readSmallFile(path: RawPath, maxBytes: number): string | null {
  const fd = openFile(path);
  if (fd === null) return null;
  try {
    return fstatSync(fd).nlink === 1 ? readUpTo(fd, maxBytes) : null;
  } finally {
    closeSync(fd);
  }
}

/** The bytes of an open file; null when there are more than `maxBytes`. */
export function readUpTo(fd: number, maxBytes: number): string | null {
  const { size } = fstatSync(fd);
  if (size > maxBytes) return null;
  // One more than it says, so that a file that grows at this moment is noticed.
  const buffer = Buffer.alloc(size + 1);
  const length = readSync(fd, buffer, 0, buffer.length, 0);
  return length > size ? null : buffer.toString('latin1', 0, length);
}

function openVerified(path: RawPath, flags: number): number | null {
  const fd = orNull(() => reach(path, (near) => openSync(near, flags)), 'ENXIO');
  if (fd === null) return null;
  // Behind a longer path no link was followed: `reach` opened every directory for itself.
  if (path.length > PATH_MAX_BYTES || readlinkSync(fdPath(fd), 'latin1') === path) return fd;
  closeSync(fd);
  return null;
}

/** Calls `use` with a name for `path` that the kernel takes: past its limit, one below an open directory. */
function reach<T>(path: RawPath, use: (near: string | Buffer) => T): T {
  if (path.length <= PATH_MAX_BYTES) return use(toSystem(path));
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  let fd = openSync('/', O_PATH | O_DIRECTORY);
  try {
    for (const name of names) {
      const next = openSync(toSystem(`${fdPath(fd)}/${name}`), O_PATH | O_DIRECTORY | O_NOFOLLOW);
      closeSync(fd);
      fd = next;
    }
    return use(toSystem(`${fdPath(fd)}/${last}`));
  } finally {
    closeSync(fd);
  }
}

function orNull<T>(work: () => T, ...more: string[]): T | null {
  try {
    return work();
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', ...more)) return null;
    throw cause;
  }
}
