import { opendirSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';

/** Entries of a tree that are looked at: a fraction of a second. */
const ENTRIES_MAX = 200_000;

/** What was found in a tree: a socket or pipe, or more entries than are looked at. */
export type Listening = { path: string } | { unread: number };

/**
 * The first socket or pipe below a directory, through which a program inside could talk to one outside; null if there is no
 * such file. A read-only mount does not prevent it, and no filter of system calls sees the path. The kernel's list of sockets
 * would not do: it has other paths than the tree for a socket that was bound by a relative path, and none of other namespaces.
 */
export function findListener(top: string, entriesMax: number = ENTRIES_MAX): Listening | null {
  const folders = [top];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isSocket() || entry.isFIFO()) return { path };
      if (entry.isDirectory()) folders.push(path);
      entries += 1;
      if (entries > entriesMax) return { unread: entriesMax };
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
