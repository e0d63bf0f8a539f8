import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { systemClock } from '../../../core/clock.ts';
import { earliestFileTime, mayChangeUnseen } from '../../../fs/file-time.ts';
import type { RawPath } from '../../../fs/raw-path.ts';
import { type Entry, type EntryKind, type Listing, STAGE } from '../../contract/merge-messages.ts';
import { contentOf } from './content.ts';
import { systemPath } from './place.ts';

/** Everything below `root`. Follows no link and does not leave the file system. */
export function list(root: RawPath): Listing {
  const startedMs = earliestFileTime(systemClock);
  const entries = new Map<RawPath, Entry>();
  const { dev } = lstatSync(systemPath(root, ''));
  const directories: RawPath[] = [''];
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const names = namesIn(root, directory);
    if (names === null) {
      const entry = entries.get(directory);
      if (entry !== undefined) entries.set(directory, { ...entry, isClosed: true });
      continue;
    }
    for (const name of names) {
      const path = directory === '' ? name : `${directory}/${name}`;
      if (directory === '' && (name === '.git' || name === STAGE)) continue;
      const entry = look(root, path, startedMs);
      if (entry === null) continue;
      entries.set(path, entry.of);
      if (entry.of.kind === 'd' && name !== '.git' && entry.dev === dev) directories.push(path);
    }
  }
  return entries;
}

/** The entry of one path, null if nothing is there. `startedMs`: what `earliestFileTime` said before the look. */
export function look(root: RawPath, path: RawPath, startedMs: number): { of: Entry; dev: number } | null {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(systemPath(root, path), { throwIfNoEntry: false });
  } catch {
    // A part of its path is no directory.
  }
  if (stats === undefined) return null;
  const kind = kindOf(stats);
  const isFresh = kind === 'f' && mayChangeUnseen(stats.ctimeMs, startedMs);
  const of: Entry = {
    kind,
    mode: stats.mode & 0o7777,
    bytes: kind === 'f' ? stats.size : 0,
    ctimeMs: stats.ctimeMs,
    mtimeMs: stats.mtimeMs,
    ino: stats.ino,
    links: stats.nlink,
    target: kind === 'l' ? targetOf(root, path) : '',
    id: isFresh ? (contentOf(root, path) ?? '') : '',
    isClosed: false,
  };
  return { of, dev: stats.dev };
}

function kindOf(stats: Stats): EntryKind {
  if (stats.isFile()) return 'f';
  if (stats.isDirectory()) return 'd';
  return stats.isSymbolicLink() ? 'l' : 's';
}

/** Null if the directory cannot be read. */
function namesIn(root: RawPath, directory: RawPath): string[] | null {
  try {
    return readdirSync(systemPath(root, directory), { encoding: 'latin1' });
  } catch {
    return null;
  }
}

function targetOf(root: RawPath, path: RawPath): string {
  try {
    return readlinkSync(systemPath(root, path), { encoding: 'latin1' });
  } catch {
    return '';
  }
}
