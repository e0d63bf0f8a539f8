import { ContextdError } from '../../core/errors.ts';
import type { FetchLimits } from '../limits.ts';
import { formatSource, type GitSource } from '../source.ts';
import type { GitObject, Repository } from './git-repository.ts';
import { checkName, refused, tooLarge } from './names.ts';

/** An entry of a tree that is not a tree. */
export interface GitFile extends GitObject {
  /** Relative to the tool. */
  path: string;
  mode: number;
  /** `commit`: a submodule. */
  type: 'blob' | 'commit';
}

interface TreeEntry {
  path: string;
  mode: number;
  id: string;
}

/** git refuses to fetch a repository with SHA-256 into one with SHA-1, as ours are. */
const ID_BYTES = 20;
const [TREE_MODE, COMMIT_MODE] = [0o040000, 0o160000];

/**
 * The files below `source.sub` in a commit. The trees are read level by level and never more than the limits allow, because
 * a few small trees can name billions of files. Throws PATH_NOT_FOUND if there is no such folder.
 */
export async function listFiles(
  repository: Repository,
  commit: string,
  source: GitSource,
  limits: FetchLimits,
): Promise<GitFile[]> {
  const entries: TreeEntry[] = [];
  let level: TreeEntry[] = [await findTree(repository, commit, source, limits)];
  let seen = 0;
  while (level.length > 0) {
    const inside = await readTrees(repository, level, limits);
    seen += inside.length;
    if (seen > limits.files) throw tooLarge(`the repository has more than ${limits.files} files and directories`);
    for (const { path } of inside) checkName(path, limits);
    entries.push(...inside.filter(({ mode }) => mode !== TREE_MODE));
    level = inside.filter(({ mode }) => mode === TREE_MODE);
  }
  return withSizes(repository, entries, limits);
}

async function findTree(
  repository: Repository,
  commit: string,
  source: GitSource,
  limits: FetchLimits,
): Promise<TreeEntry> {
  let at: TreeEntry = { path: '', mode: TREE_MODE, id: `${commit}^{tree}` };
  for (const name of source.sub === '' ? [] : source.sub.split('/')) {
    const found = (await readTrees(repository, [{ ...at, path: '' }], limits)).find(({ path }) => path === name);
    if (found?.mode !== TREE_MODE)
      throw new ContextdError('PATH_NOT_FOUND', `${source.url} has no folder ${source.sub} at this version`, {
        remedy: `Check the part after //, and the version: ${formatSource(source)}`,
      });
    at = { ...found, path: '' };
  }
  return at;
}

async function readTrees(
  repository: Repository,
  trees: readonly TreeEntry[],
  limits: FetchLimits,
): Promise<TreeEntry[]> {
  const facts = await repository.describe(trees.map(({ id }) => id));
  const bytes = facts.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.bytes)
    throw tooLarge(`the directories of the repository have ${bytes} bytes, more than ${limits.bytes}`);
  const objects = trees.map(({ id }, position) => ({ id, size: facts[position]?.size ?? 0 }));
  const contents = await repository.readObjects(objects);
  return trees.flatMap(({ path }, position) => [...parseTree(contents[position] ?? Buffer.alloc(0), path)]);
}

/** Git's own form: `<mode> <name>\0<id>`, again and again. */
function* parseTree(tree: Buffer, path: string): Iterable<TreeEntry> {
  for (let at = 0; at < tree.length; ) {
    const [space, end] = [tree.indexOf(0x20, at), tree.indexOf(0, at)];
    if (space === -1 || end < space || end + ID_BYTES >= tree.length) throw refused(path, 'is a damaged directory');
    const mode = Number.parseInt(tree.toString('latin1', at, space), 8);
    const name = tree.toString('utf8', space + 1, end);
    const id = tree.toString('hex', end + 1, end + 1 + ID_BYTES);
    yield { path: path === '' ? name : `${path}/${name}`, mode, id };
    at = end + 1 + ID_BYTES;
  }
}

async function withSizes(
  repository: Repository,
  entries: readonly TreeEntry[],
  limits: FetchLimits,
): Promise<GitFile[]> {
  const blobs = entries.filter(({ mode }) => mode !== COMMIT_MODE);
  const facts = await repository.describe(blobs.map(({ id }) => id));
  const bytes = facts.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.bytes) throw tooLarge(`the repository unpacks to ${bytes} bytes, more than ${limits.bytes}`);
  const files = blobs.map((entry, position): GitFile => ({ ...entry, type: 'blob', size: facts[position]?.size ?? 0 }));
  const links = entries.filter(({ mode }) => mode === COMMIT_MODE);
  return [...files, ...links.map((entry): GitFile => ({ ...entry, type: 'commit', size: 0 }))];
}
