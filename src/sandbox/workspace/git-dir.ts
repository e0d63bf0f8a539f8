import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { readSmallFile, realPathOf, statAt } from './inode.ts';
import { nameOf, parentOf, type RawPath, toRaw, toText } from './raw-path.ts';

/** Longest `.git` file, `gitdir` or `commondir` that is believed, bytes. */
const POINTER_MAX_BYTES = 8192;

/**
 * The common git directory of a workspace that is a linked worktree; null when it is none. `.git` there is a file, and
 * a tool could have written it, naming any directory of the host. So it counts only if the named place points back:
 * `<common>/worktrees/<name>/gitdir` must lead to this very `.git`, and a tool cannot write there.
 */
export function findCommonGitDir(workspace: string): string | null {
  try {
    const common = resolveCommonGitDir(toRaw(workspace));
    return common === null ? null : toText(common);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function resolveCommonGitDir(workspace: RawPath): RawPath | null {
  const pointer = `${workspace}/.git`;
  const gitDir = followPointer(pointer);
  if (gitDir === null) return null;
  const common = realPathOf(posix.resolve(gitDir, readPointer(`${gitDir}/commondir`)));
  if (common === null || parentOf(gitDir) !== `${common}/worktrees`) return null;
  if (!pointsBack(gitDir, pointer)) return null;
  return isGitDir(common) && statAt(common)?.uid === statAt(workspace)?.uid ? common : null;
}

/** The real directory that a `.git` file names; null when the file is none, or names nothing. */
export function followPointer(pointer: RawPath): RawPath | null {
  const named = /^gitdir: (.+)$/.exec(readPointer(pointer))?.[1];
  return named === undefined ? null : realPathOf(posix.resolve(parentOf(pointer), named));
}

/** What git takes for a repository, whatever its name is: HEAD, and objects and refs here or where `commondir` says. */
export function isGitDir(path: RawPath): boolean {
  const has = (name: string) => statAt(`${path}/${name}`) !== null;
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** `git worktree add` makes a `commondir` that leads to the repository it lies in. */
export function isOwnCommonDir(path: RawPath): boolean {
  return nameOf(parentOf(parentOf(path))) === 'worktrees' && readPointer(path) === '../..';
}

function pointsBack(gitDir: RawPath, pointer: RawPath): boolean {
  const back = posix.resolve(gitDir, readPointer(`${gitDir}/gitdir`));
  const place = realPathOf(parentOf(back));
  return place !== null && `${place}/.git` === pointer;
}

function readPointer(path: RawPath): string {
  return readSmallFile(path, POINTER_MAX_BYTES)?.replace(/\n+$/, '') ?? '';
}
