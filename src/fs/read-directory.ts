import { closeSync, type Dirent, fstatSync, opendirSync, readdirSync, type Stats } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { fdPath, openDirectory, statAt } from './file-access.ts';
import type { RawPath } from './raw-path.ts';

/** Entries that are read from a large directory at a time. */
const BUFFERED_ENTRIES = 64;
/** Largest size of a directory that is read at once, in bytes as lstat reports it: some five hundred names. */
const AT_ONCE_MAX_BYTES = 16 * 1024;

/** One name in a directory, one character per byte. */
export interface Entry {
  readonly name: string;
  /** `special`: a pipe, a socket or a device. */
  readonly kind: 'dir' | 'link' | 'special' | 'other';
}

export interface ReadResult {
  /** Taken before the names were read. */
  readonly stats: Stats;
  readonly entries: number;
}

/**
 * Calls `take` for every entry of a directory and follows no link anywhere in its path. Returns null if the directory does
 * not exist. Throws EACCES if it cannot be read.
 */
export function readDirectory(path: RawPath, take: (entry: Entry) => void): ReadResult | null {
  const fd = openDirectory(path);
  if (fd === null) return null;
  try {
    const stats = fstatSync(fd);
    const entries = stats.size <= AT_ONCE_MAX_BYTES ? readAtOnce(fd, take) : readInParts(fd, take);
    return { stats, entries };
  } finally {
    closeSync(fd);
  }
}

function readAtOnce(fd: number, take: (entry: Entry) => void): number {
  const entries = readdirSync(fdPath(fd), { withFileTypes: true, encoding: 'buffer' });
  for (const entry of entries) take({ name: entry.name.toString('latin1'), kind: kindOf(entry) });
  return entries.length;
}

function readInParts(fd: number, take: (entry: Entry) => void): number {
  const dir = opendirSync(fdPath(fd), { encoding: 'latin1', bufferSize: BUFFERED_ENTRIES });
  try {
    let entries = 0;
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
      take({ name: entry.name, kind: kindOf(entry) });
      entries++;
    }
    return entries;
  } finally {
    dir.closeSync();
  }
}

function kindOf(entry: Dirent<string> | Dirent<Buffer>): Entry['kind'] {
  if (entry.isDirectory()) return 'dir';
  if (entry.isSymbolicLink()) return 'link';
  return isSpecial(entry) ? 'special' : 'other';
}

/** Opening one of these waits for another program, fails, or reads without end. */
export function isSpecial(entry: Pick<Stats, 'isFIFO' | 'isSocket' | 'isBlockDevice' | 'isCharacterDevice'>): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/**
 * The newest ctime in a tree. Stops at the first ctime that `isSuspect` accepts. Calls `pause` after each entry, so that a
 * large tree does not keep others waiting.
 */
export function newestOf(
  path: RawPath,
  own: Stats,
  isSuspect: (ctimeMs: number) => boolean,
  pause: () => void,
): { newestMs: number; isSuspect: boolean } {
  let newestMs = own.ctimeMs;
  if (isSuspect(own.ctimeMs)) return { newestMs, isSuspect: true };
  const open = own.isDirectory() ? [path] : [];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    for (const name of namesUnlessClosed(dir, pause)) {
      pause();
      const stats = statUnlessClosed(`${dir}/${name}`);
      if (stats === null || stats.dev !== own.dev) continue;
      if (isSuspect(stats.ctimeMs)) return { newestMs: stats.ctimeMs, isSuspect: true };
      newestMs = Math.max(newestMs, stats.ctimeMs);
      if (stats.isDirectory()) open.push(`${dir}/${name}`);
    }
  }
  return { newestMs, isSuspect: false };
}

function namesUnlessClosed(path: RawPath, pause: () => void): string[] {
  const names: string[] = [];
  try {
    readDirectory(path, ({ name }) => {
      names.push(name);
      pause();
    });
    return names;
  } catch (cause) {
    if (isErrno(cause, 'EACCES')) return [];
    throw cause;
  }
}

/** A run that closes a directory updates its ctime; a run must first open a directory that a person closed. */
function statUnlessClosed(path: RawPath): Stats | null {
  try {
    return statAt(path);
  } catch (cause) {
    if (isErrno(cause, 'EACCES')) return null;
    throw cause;
  }
}
