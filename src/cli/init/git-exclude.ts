import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { isBelow } from '../../core/paths.ts';
import type { OwnedDirectory } from '../files/owned-directory.ts';
import { TOOLS_DIR } from './layout.ts';
import { hasManagedBlock, type MergeRecord } from './merged-file.ts';

/**
 * Names what init created, so that git leaves it out. Commands cannot change these files: `git stash -u` and `git clean` would
 * delete half of the untracked ones and fail.
 */
export const EXCLUDE_FILE = '.git/info/exclude';

/** Says that a person wants git to see the files: the block is not added again. */
export const NOT_EXCLUDED: MergeRecord = { created: false, sha256: '', insertions: [], entries: [], containers: [] };

/** The patterns for files that init created, the folder of a tool in one. */
export function excludedLines(created: Iterable<string>): string[] {
  const patterns = [...created].map((path) => `/${isBelow(TOOLS_DIR, path) ? `${dirname(path)}/` : path}`);
  return [...new Set(patterns)];
}

/**
 * Whether the block belongs into the project's own repository. Not into a worktree or a part of a repository, whose file lies
 * elsewhere. Not if a person removed it, or if git tracks one of the files: then they are meant to be committed.
 */
export function mayExclude(root: OwnedDirectory, record: MergeRecord | undefined, files: readonly string[]): boolean {
  if (!isPlainPlace(root)) return false;
  const found = root.inspect(EXCLUDE_FILE);
  if (record !== undefined) return found.kind === 'file' && hasManagedBlock(found.text);
  return isTracked(root, files) === false;
}

/** A link or file on the way is not followed, and a special file is left as it is. */
function isPlainPlace(root: OwnedDirectory): boolean {
  return (
    root.inspect('.git').kind === 'directory' &&
    root.inspect('.git/info').kind === 'directory' &&
    ['file', 'missing'].includes(root.inspect(EXCLUDE_FILE).kind)
  );
}

/** Whether git tracks one of the files. Null if git cannot say it: it is missing, or this is no repository of its user. */
export function isTracked({ path, user }: OwnedDirectory, files: readonly string[]): boolean | null {
  const args = ['-c', 'core.fsmonitor=false', '--literal-pathspecs', 'ls-files', '--', ...files];
  const isOther = process.geteuid?.() === 0 && user.uid !== 0;
  const options = { cwd: path, stdio: ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'] };
  try {
    return execFileSync('git', args, { ...options, ...(isOther ? { uid: user.uid, gid: user.gid } : {}) }).length > 0;
  } catch {
    return null;
  }
}
