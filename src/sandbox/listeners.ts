import { opendirSync, readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/** Entries of a tree that are looked at. */
const ENTRIES_MAX = 50_000;
/** Sockets of this network namespace, with their paths; Linux only. */
const BOUND = '/proc/net/unix';

/**
 * The first socket or pipe below a directory, through which a program inside could talk to one outside; null if there is no
 * such file. A read-only mount does not prevent it, and no filter of system calls sees the path. The sockets of this network
 * namespace are found in a tree of any size, all others among its first 50,000 entries.
 */
export function findListener(directory: string): string | null {
  return boundBelow(directory) ?? walk(directory);
}

function boundBelow(directory: string): string | null {
  const paths = readBound().flatMap((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line)?.[1] ?? []);
  return paths.find((path) => path.startsWith(`${directory}/`)) ?? null;
}

function readBound(): string[] {
  try {
    return readFileSync(BOUND, 'utf8').split('\n');
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'EACCES')) return [];
    throw thrown;
  }
}

function walk(top: string): string | null {
  const folders = [top];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isSocket() || entry.isFIFO()) return path;
      if (entry.isDirectory()) folders.push(path);
      entries += 1;
      if (entries >= ENTRIES_MAX) return null;
    }
  }
  return null;
}

/** A directory that cannot be read here cannot be read inside either. */
function* entriesOf(folder: string) {
  try {
    using directory = opendirSync(folder);
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } catch (thrown) {
    if (!isErrno(thrown, 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR')) throw thrown;
  }
}
