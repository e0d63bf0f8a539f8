import { closeSync, lstatSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isBelow, isWithin } from '../../core/paths.ts';
import { fdPath, openPlace } from '../../fs/file-access.ts';
import { toRaw } from '../../fs/raw-path.ts';
import type { Jail } from '../jail/bubblewrap.ts';
import type { PinnedPath } from '../jail/launch.ts';
import type { CheckedPolicy } from './checked-policy.ts';

/** Milliseconds after which a sandbox counts as built if no report arrives. */
const BUILT_WITHIN_MS = 2_000;

/**
 * Removes mount points that building the sandbox left in the workspace: when called, after a timeout, or when the
 * sandbox has ended.
 */
export function tidyOnce({ guard, policy }: CheckedPolicy, all: readonly PinnedPath[], jail: Jail): () => void {
  const { path: workspace, layer } = policy.workspace;
  // In a layer they are created in the branch.
  const pinned = layer === null ? all : all.filter(({ path }) => !isWithin(workspace, path));
  const startedAtMs = Date.now();
  const isBuilt = guard.building(pinned.map(({ path }) => path));
  let isTidy = false;
  const tidy = (): void => {
    if (isTidy) return;
    isTidy = true;
    clearTimeout(timer);
    removeStubs(pinned, startedAtMs);
    isBuilt();
  };
  const timer = setTimeout(tidy, BUILT_WITHIN_MS).unref();
  jail.ended.then(tidy, tidy);
  return tidy;
}

/**
 * Removes stubs: bubblewrap creates missing mount points, so if a person removes a protected path while a sandbox is
 * being built over it, an empty file or directory would remain in the person's tree. Removes entries that differ from
 * the pinned ones, are empty, and are younger than `startedAtMs` (milliseconds since the epoch).
 */
export function removeStubs(pinned: readonly PinnedPath[], startedAtMs: number): void {
  // Innermost first: a stub may contain another stub.
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
 * bubblewrap creates mount points only inside the trees that it mounts, which were opened before. So the project folder
 * itself is never a stub, and the contents of a directory that replaced it belong to the person.
 */
function liesInPinnedRoot(pin: PinnedPath, pinned: readonly PinnedPath[]): boolean {
  const roots = pinned.filter(({ path }) => isBelow(path, pin.path));
  const [root] = roots.sort((a, b) => a.path.length - b.path.length);
  const stats = root === undefined ? undefined : lstatSync(root.path, { throwIfNoEntry: false });
  return root !== undefined && stats !== undefined && isPinned(root, stats);
}

/**
 * Removes a directory only if it is empty, and a file only if it has no bytes. Works in an open directory: the owner can put a link in place
 * of it, and root would remove something elsewhere.
 */
function removeEmpty(path: string, { dev, ino }: Stats): void {
  const place = openPlace(toRaw(dirname(path)));
  if (place === null) return;
  const near = `${fdPath(place)}/${basename(path)}`;
  try {
    const stats = lstatSync(near);
    if (stats.dev !== dev || stats.ino !== ino) return;
    if (stats.isDirectory()) rmdirSync(near);
    else if (stats.isFile() && stats.size === 0) unlinkSync(near);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  } finally {
    closeSync(place);
  }
}
