import { closeSync, type Dirent, fstatSync, opendirSync, readdirSync, type Stats } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openDirectory, statAt } from './inode.ts';
import type { RawPath } from './raw-path.ts';

/** Entries between two chances to do something else. */
const ENTRIES_PER_STEP = 64;
/** Bytes a directory may have, as it says itself, to be read at once: some five hundred names. */
const AT_ONCE_MAX_BYTES = 16 * 1024;

/** One name in a directory, byte by byte. */
export interface Entry {
  readonly name: string;
  readonly kind: 'dir' | 'link' | 'other';
}

export interface ReadResult {
  /** Taken before the names were read. */
  readonly stats: Stats;
  readonly entries: number;
}

/**
 * Gives every entry of a directory to `take`, no link followed anywhere in its path, and stops for others now and then.
 * Null when it is not there. Throws EACCES when it is closed.
 */
export function* readDirectory(path: RawPath, take: (entry: Entry) => void): Generator<void, ReadResult | null> {
  const fd = openDirectory(path);
  if (fd === null) return null;
  try {
    const stats = fstatSync(fd);
    let entries = 0;
    for (const entry of stats.size <= AT_ONCE_MAX_BYTES ? readAtOnce(fd) : readSlowly(fd)) {
      take(entry);
      if (++entries % ENTRIES_PER_STEP === 0) yield;
    }
    return { stats, entries };
  } finally {
    closeSync(fd);
  }
}

function* readAtOnce(fd: number): Generator<Entry> {
  for (const entry of readdirSync(fdPath(fd), { withFileTypes: true, encoding: 'buffer' })) {
    yield { name: entry.name.toString('latin1'), kind: kindOf(entry) };
  }
}

function* readSlowly(fd: number): Generator<Entry> {
  const dir = opendirSync(fdPath(fd), { encoding: 'latin1', bufferSize: ENTRIES_PER_STEP });
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
      yield { name: entry.name, kind: kindOf(entry) };
    }
  } finally {
    dir.closeSync();
  }
}

function kindOf(entry: Dirent<string> | Dirent<Buffer>): Entry['kind'] {
  return entry.isDirectory() ? 'dir' : entry.isSymbolicLink() ? 'link' : 'other';
}

/** What the newest inode of a tree says. `isSuspect` ends the search as soon as one time is. */
export function* newestOf(
  path: RawPath,
  own: Stats,
  isSuspect: (ctimeMs: number) => boolean,
): Generator<void, { newestMs: number; isSuspect: boolean }> {
  let newestMs = own.ctimeMs;
  if (isSuspect(own.ctimeMs)) return { newestMs, isSuspect: true };
  const open = own.isDirectory() ? [path] : [];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    const names: Entry[] = [];
    const isThere = yield* readUnlessClosed(dir, (entry) => names.push(entry));
    if (!isThere) continue;
    for (const { name } of names) {
      const stats = statUnlessClosed(`${dir}/${name}`);
      if (stats === null || stats.dev !== own.dev) continue;
      if (isSuspect(stats.ctimeMs)) return { newestMs: stats.ctimeMs, isSuspect: true };
      newestMs = Math.max(newestMs, stats.ctimeMs);
      if (stats.isDirectory()) open.push(`${dir}/${name}`);
      yield;
    }
  }
  return { newestMs, isSuspect: false };
}

function* readUnlessClosed(path: RawPath, take: (entry: Entry) => void): Generator<void, boolean> {
  try {
    return (yield* readDirectory(path, take)) !== null;
  } catch (cause) {
    if (isErrno(cause, 'EACCES')) return false;
    throw cause;
  }
}

/** What a run closed bears the time of that; what a person closed, no run can enter unless it opens it first. */
function statUnlessClosed(path: RawPath): Stats | null {
  try {
    return statAt(path);
  } catch (cause) {
    if (isErrno(cause, 'EACCES')) return null;
    throw cause;
  }
}
