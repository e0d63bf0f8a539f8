import { lstatSync, readdirSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { isRealDirectory } from '../../fs/directory-identity.ts';
import { findCommonGitDir } from './git-dir.ts';

/** Where Claude Code makes its worktrees. */
const PLACE = '.claude/worktrees';
/** Checkouts of one workspace that commands can write, the youngest. Each has a guard and some ten mounts. */
const CHECKOUTS_MAX = 32;

/**
 * The worktrees of the workspace's own repository directly below `.claude/worktrees`, sorted: absolute paths without links.
 * Commands may write them although `.claude` is protected.
 *
 * The `.git` file of such a directory must name a registration in the workspace's repository, which must name it back
 * (`findCommonGitDir`). A command can write registrations but, because `.claude` is read-only, neither the directory nor its
 * `.git` file: only a program of the host can make a checkout here.
 */
export function checkoutsOf(workspace: string): string[] {
  const place = `${workspace}/${PLACE}`;
  const names = isRealDirectory(place) ? namesIn(place) : [];
  if (names.length === 0) return [];
  const uid = lstatSync(workspace).uid;
  const repository = findCommonGitDir(workspace) ?? `${workspace}/.git`;
  const isCheckout = (path: string): boolean =>
    isRealDirectory(path) && lstatSync(path).uid === uid && findCommonGitDir(path) === repository;
  return names
    .map((name) => `${place}/${name}`)
    .filter((path) => attempt(() => isCheckout(path), false))
    .map((path) => ({ path, bornMs: attempt(() => lstatSync(path).birthtimeMs, 0) }))
    .sort((a, b) => b.bornMs - a.bornMs)
    .slice(0, CHECKOUTS_MAX)
    .map(({ path }) => path)
    .sort();
}

function namesIn(directory: string): string[] {
  return attempt(() => readdirSync(directory), []);
}

/** A directory may go away while it is looked at. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (cause) {
    if (isErrno(cause)) return otherwise;
    throw cause;
  }
}
