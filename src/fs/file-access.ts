import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { fdPath, O_PATH } from '../core/descriptors.ts';
import { isErrno } from '../core/errors.ts';
import { PATH_MAX_BYTES, type RawPath, toSystem } from './raw-path.ts';

export { fdPath };

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, S_IFMT } = constants;

/** lstat; null if nothing is there. Throws EACCES behind a closed directory. */
export function statAt(path: RawPath): Stats | null {
  return orNull(() => reach(path, (near) => lstatSync(near, { throwIfNoEntry: false }) ?? null));
}

/** Like `statAt`, with exact inode numbers. */
export function exactStatAt(path: RawPath): BigIntStats | null {
  return orNull(() => reach(path, (near) => lstatSync(near, { throwIfNoEntry: false, bigint: true }) ?? null));
}

/**
 * Kind, device, inode and birth time: they tell a file from another one of the same name. The birth time is needed because a
 * new file may get the inode number of a removed one; it is 0 if the file system does not store it.
 */
export function identityOf(stats: BigIntStats): string {
  return `${stats.mode & BigInt(S_IFMT)}:${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

export function linkTextAt(path: RawPath): string {
  return reach(path, (near) => readlinkSync(near, 'latin1'));
}

/** Where a path leads when links are followed; null if it leads nowhere. */
export function realPathOf(path: RawPath): RawPath | null {
  return orNull(() => realpathSync.native(toSystem(path), 'latin1'), 'EACCES', 'EINVAL');
}

/** Opens a directory for reading and follows no link anywhere in its path; null if it is not there. */
export function openDirectory(path: RawPath): number | null {
  return openVerified(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

/** Opens a directory to work in it. It need not be readable. */
export function openPlace(path: RawPath): number | null {
  return openVerified(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

/** Opens a file for reading without waiting for the other end of a pipe; null unless it is a regular file. */
export function openFile(path: RawPath): number | null {
  const fd = openVerified(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd === null || fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** The content of a small file, one character per byte; null unless it is a regular file with one name and at most `maxBytes`. */
export function readSmallFile(path: RawPath, maxBytes: number): string | null {
  return readOwnFile(path, maxBytes)?.toString('latin1') ?? null;
}

/** The content of a file; null unless it is a regular file with one name and at most `maxBytes`. */
export function readOwnFile(path: RawPath, maxBytes: number): Buffer | null {
  const fd = openFile(path);
  if (fd === null) return null;
  try {
    return fstatSync(fd).nlink === 1 ? readBytes(fd, maxBytes) : null;
  } finally {
    closeSync(fd);
  }
}

/** The content of an open file, one character per byte; null if it has more than `maxBytes`. */
export function readUpTo(fd: number, maxBytes: number): string | null {
  return readBytes(fd, maxBytes)?.toString('latin1') ?? null;
}

/** The content of an open file; null if it has more than `maxBytes`. */
function readBytes(fd: number, maxBytes: number): Buffer | null {
  const { size } = fstatSync(fd);
  if (size > maxBytes) return null;
  // One byte more than its size, so that a file that is growing is noticed.
  const buffer = Buffer.alloc(size + 1);
  const length = readSync(fd, buffer, 0, buffer.length, 0);
  return length > size ? null : buffer.subarray(0, length);
}

function openVerified(path: RawPath, flags: number): number | null {
  const fd = orNull(() => reach(path, (near) => openSync(near, flags)), 'ENXIO');
  if (fd === null) return null;
  // In a longer path no link was followed: `reach` opened each directory.
  if (path.length > PATH_MAX_BYTES || readlinkSync(fdPath(fd), 'latin1') === path) return fd;
  closeSync(fd);
  return null;
}

/** Calls `use` with a name for `path` that the kernel accepts: if `path` is too long, a name below an open directory. */
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

/** Gives the owner the right to read a directory back. Returns false if it is not there. */
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

/** A symbolic link and where it led when it was looked at. */
export interface LinkState {
  readonly text: RawPath;
  /** Where it leads in the end; null if nowhere. */
  readonly target: RawPath | null;
  /** The identity of the target: another directory may take its place under the same path. */
  readonly targetIdentity: string;
}

/** `replaced`: something else is there now. `redirected`: the link is the same, but another link on its way was changed. */
export interface LinkChange {
  readonly kind: 'none' | 'gone' | 'replaced' | 'redirected';
  /** The identity of what is there; empty if it is gone or cannot be read. */
  readonly identity: string;
}

/** A protected link as it is now. */
export function linkStateAt(path: RawPath): LinkState {
  const target = realPathOf(path);
  const stats = target === null ? null : exactStatAt(target);
  return { text: linkTextAt(path), target, targetIdentity: stats === null ? '' : identityOf(stats) };
}

/** What a run did to a protected link, which no mount protects. */
export function compareLink(path: RawPath, before: LinkState): LinkChange {
  try {
    const stats = exactStatAt(path);
    if (stats === null) return { kind: 'gone', identity: '' };
    const identity = identityOf(stats);
    if (!stats.isSymbolicLink() || linkTextAt(path) !== before.text) return { kind: 'replaced', identity };
    const now = linkStateAt(path);
    const isSame = now.target === before.target && now.targetIdentity === before.targetIdentity;
    return { kind: isSame ? 'none' : 'redirected', identity };
  } catch (cause) {
    if (isErrno(cause)) return { kind: 'none', identity: '' };
    throw cause;
  }
}
