import { parentsBetween, type RawPath } from '../../../fs/raw-path.ts';
import { readSmall } from './disk.ts';
import { IgnoreCheck } from './ignore-check.ts';

/** Bytes of the largest index that is read; with a larger one, tracked files count like others. */
const INDEX_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Which of these paths git ignores, as `git status` sees it: a tracked file is not ignored. The path of a directory ends with
 * a slash. The paths need not exist.
 */
export async function ignoredAmong(root: RawPath, gitDir: string, paths: readonly RawPath[]): Promise<RawPath[]> {
  if (paths.length === 0) return [];
  const index = readSmall(`${root}/.git/index`, INDEX_MAX_BYTES);
  if (index.length === 0) return ask(root, gitDir, paths, null);
  // An index that git cannot read alone: split in two, of a repository of another form, or damaged.
  return ask(root, gitDir, paths, index).catch(() => ask(root, gitDir, paths, null));
}

async function ask(root: RawPath, gitDir: string, paths: readonly RawPath[], index: Buffer | null): Promise<RawPath[]> {
  const check = new IgnoreCheck(root, gitDir, index);
  try {
    const bare = paths.map((path) => (path.endsWith('/') ? path.slice(0, -1) : path));
    const parents = new Set(['', ...bare.flatMap((path) => parentsBetween('', `/${path}`).map((one) => one.slice(1)))]);
    check.addDirectories(parents);
    check.addDirectories(bare.filter((_, at) => paths[at]?.endsWith('/')));
    for (const parent of parents) check.readIn(parent);
    const ignored = await check.ignoredOf(bare);
    return paths.filter((_, at) => ignored.has(bare[at] ?? ''));
  } finally {
    check.close();
  }
}
