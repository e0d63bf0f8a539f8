import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isErrno } from '../core/errors.ts';

/** Longest `.git` file, `gitdir` or `commondir` that is believed, bytes. */
const POINTER_MAX_BYTES = 8192;

/**
 * The common git directory of a workspace that is a linked worktree; null when it is none. `.git` there is a file, and
 * a tool could have written it, naming any directory of the host. So it counts only if the named place points back:
 * `<common>/worktrees/<name>/gitdir` must lead to this very `.git`, and a tool cannot write there.
 */
export function findCommonGitDir(workspace: string): string | null {
  try {
    return resolveCommonGitDir(workspace);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function resolveCommonGitDir(workspace: string): string | null {
  const pointer = join(workspace, '.git');
  if (!lstatSync(pointer).isFile()) return null;
  const named = /^gitdir: (.+)$/.exec(readPointer(pointer));
  if (named?.[1] === undefined) return null;
  const gitDir = realpathSync(resolve(workspace, named[1]));
  const common = realpathSync(resolve(gitDir, readPointer(join(gitDir, 'commondir'))));
  if (dirname(gitDir) !== join(common, 'worktrees')) return null;
  if (!pointsBack(gitDir, pointer)) return null;
  return looksLikeGitDir(common) && statSync(common).uid === statSync(workspace).uid ? common : null;
}

function pointsBack(gitDir: string, pointer: string): boolean {
  const back = resolve(gitDir, readPointer(join(gitDir, 'gitdir')));
  return join(realpathSync(dirname(back)), '.git') === pointer;
}

function looksLikeGitDir(path: string): boolean {
  return (
    lstatSync(join(path, 'HEAD')).isFile() &&
    statSync(join(path, 'objects')).isDirectory() &&
    statSync(join(path, 'refs')).isDirectory()
  );
}

function readPointer(path: string): string {
  if (lstatSync(path).size > POINTER_MAX_BYTES || !lstatSync(path).isFile()) return '';
  return readFileSync(path, 'utf8').trimEnd();
}
