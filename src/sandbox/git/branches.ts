import { lstatSync } from 'node:fs';
import { directoryEntries } from '../../core/directory-entries.ts';
import { isErrno } from '../../core/errors.ts';
import { readSmallFile } from '../../fs/file-access.ts';
import { toRaw } from '../../fs/raw-path.ts';

const PACKED_MAX_BYTES = 4 * 1024 * 1024;
/** Files and directories. */
const LOOSE_MAX = 2_000;

/** The packed branches of repositories, by file, as long as the file stays the same. */
const packed = new Map<string, { stamp: string; names: ReadonlySet<string> | null }>();
const PACKED_KEPT = 32;

/** Whether a repository has a branch now. If its branches cannot be counted, every name is taken. */
export function branchesOf(gitDir: string): (name: string) => boolean {
  const inPack = packedBranches(`${gitDir}/packed-refs`);
  const loose = looseBranches(`${gitDir}/refs/heads`);
  const isOther = lstatSync(`${gitDir}/reftable`, { throwIfNoEntry: false }) !== undefined;
  if (inPack === null || loose === null || isOther) return () => true;
  return (name) => inPack.has(name) || loose.has(name);
}

function packedBranches(file: string): ReadonlySet<string> | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return new Set();
  const stamp = `${stats.dev}:${stats.ino}:${stats.ctimeMs}:${stats.size}`;
  const known = packed.get(file);
  if (known?.stamp === stamp) return known.names;
  const text = readSmallFile(toRaw(file), PACKED_MAX_BYTES);
  const names =
    text === null
      ? null
      : new Set(text.split('\n').flatMap((line) => /^[0-9a-f]{40,64} refs\/heads\/(.+)$/.exec(line)?.[1] ?? []));
  if (packed.size >= PACKED_KEPT) packed.clear();
  packed.set(file, { stamp, names });
  return names;
}

/** Null if there are too many: a command can make any number of them. Follows no link below the directory. */
function looseBranches(dir: string): ReadonlySet<string> | null {
  const names = new Set<string>();
  const open = [''];
  let seen = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    try {
      for (const entry of directoryEntries(`${dir}/${at}`, 'latin1')) {
        seen += 1;
        if (seen > LOOSE_MAX) return null;
        if (entry.isDirectory()) open.push(`${at}${entry.name}/`);
        else names.add(`${at}${entry.name}`);
      }
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
    }
  }
  return names;
}
