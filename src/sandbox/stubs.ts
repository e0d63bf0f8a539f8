import { lstatSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import type { PinnedPath } from './launch.ts';

/**
 * bubblewrap makes the place of a mount where there is none. When a person takes a protected path away while a sandbox
 * is being built over it, that would be an empty file or directory in the person's tree. Removes those: what is not what
 * was pinned, is empty, and is younger than the start of the sandbox (milliseconds since the epoch).
 */
export function removeStubs(pinned: readonly PinnedPath[], startedAtMs: number): void {
  // Innermost first: a stub may lie in a stub.
  for (const pin of [...pinned].reverse()) {
    const stats = lstatSync(pin.path, { throwIfNoEntry: false });
    if (stats === undefined || isPinned(pin, stats) || !liesInPinnedRoot(pin, pinned)) continue;
    if (stats.birthtimeMs >= startedAtMs) removeEmpty(pin.path, stats);
  }
}

function isPinned({ dev, ino }: PinnedPath, stats: Stats): boolean {
  return stats.ino === ino && stats.dev === dev;
}

/**
 * bubblewrap makes places only inside the trees that it mounts, and these were opened before: a project folder itself is
 * never a stub, and what lies in one that took its place is the person's.
 */
function liesInPinnedRoot(pin: PinnedPath, pinned: readonly PinnedPath[]): boolean {
  const roots = pinned.filter(({ path }) => pin.path.startsWith(`${path}/`));
  const [root] = roots.sort((a, b) => a.path.length - b.path.length);
  const stats = root === undefined ? undefined : lstatSync(root.path, { throwIfNoEntry: false });
  return root !== undefined && stats !== undefined && isPinned(root, stats);
}

/** A directory only when nothing is in it; a file only of no bytes. */
function removeEmpty(path: string, stats: Stats): void {
  try {
    if (stats.isDirectory()) rmdirSync(path);
    else if (stats.isFile() && stats.size === 0) unlinkSync(path);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}
