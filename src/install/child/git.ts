import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { ExpectedVersion } from '../messages.ts';
import { formatSource, type GitSource } from '../source.ts';
import { type GitDeps, type GitVersion, Repository } from './git-repository.ts';
import { readSubmodules, type Submodule } from './git-submodules.ts';
import { type GitFile, listFiles } from './git-tree.ts';
import { refused } from './names.ts';
import type { Entry, Tree } from './tree.ts';

/** Repositories in repositories. */
const SUBMODULES_MAX = 20;
/** Bytes of blobs that are held at once; a larger blob comes alone. */
const BATCH_BYTES = 16 * 1024 * 1024;
const LFS_MARK = 'version https://git-lfs.github.com/spec/v1\n';
const LFS_POINTER_MAX_BYTES = 1_024;

/**
 * Adds the files of one commit to `tree`. They are read from git's objects and never checked out, so no filter, hook or
 * attribute of the repository has an effect. `work`: a directory for the repository.
 */
export async function readGit(
  source: GitSource,
  expected: ExpectedVersion,
  deps: GitDeps,
  tree: Tree,
): Promise<GitVersion> {
  deps.meter.begin('resolve', `Looking up ${formatSource(source)}`);
  const { repository, version } = await fetchCommit(source, expected, deps, 'git');
  deps.meter.begin('unpack', 'Writing the files');
  const submodules = await addCommit(repository, source, version.commit, '', deps, tree);
  await addSubmodules(submodules, source, deps, tree);
  await tree.finish();
  return version;
}

async function fetchCommit(
  source: GitSource,
  expected: ExpectedVersion,
  deps: GitDeps,
  name: string,
): Promise<{ repository: Repository; version: GitVersion }> {
  const dir = join(deps.work, name);
  await mkdir(dir, { mode: 0o700 });
  const repository = await Repository.create(dir, source, deps);
  const found = await repository.resolve();
  checkExpected(source, found.commit, expected);
  deps.meter.begin('download', `Downloading ${formatSource({ ...source, sub: '' })}`);
  const commit = await repository.fetch(found);
  checkExpected(source, commit, expected);
  return { repository, version: { ...found, commit } };
}

function checkExpected(source: GitSource, commit: string, expected: ExpectedVersion): void {
  if (expected.commit === undefined || expected.commit === commit) return;
  const ref = source.ref ?? 'the default branch';
  throw new ContextdError(
    'CONFLICT',
    `${ref} of ${source.url} is now ${commit}; the lock file has ${expected.commit}`,
    {
      remedy: `If you expected that, update the tool: ctxd tool update. To get what the lock file says, install ${formatSource({ ...source, ref: expected.commit })}.`,
      details: { expected_commit: expected.commit, commit },
    },
  );
}

/** Adds the files below `source.sub` as `prefix/…`; returns the submodules among them. */
async function addCommit(
  repository: Repository,
  source: GitSource,
  commit: string,
  prefix: string,
  deps: GitDeps,
  tree: Tree,
): Promise<Submodule[]> {
  const files = await listFiles(repository, commit, source, deps.limits);
  const links = files.filter(({ type }) => type === 'commit');
  const first = links[0];
  if (first !== undefined && !source.submodules)
    throw notRequested(source, 'submodules', `the submodule ${first.path}`);
  for (const batch of inBatches(files.filter(({ type }) => type === 'blob'))) {
    const contents = await repository.readObjects(batch);
    for (const [position, file] of batch.entries())
      await addFile(source, prefix, file, contents[position] ?? Buffer.alloc(0), tree);
  }
  return links.length === 0 ? [] : readSubmodules(repository, commit, source, links, prefix);
}

async function addFile(source: GitSource, prefix: string, file: GitFile, content: Buffer, tree: Tree): Promise<void> {
  const entry: Entry = { path: `${prefix}${file.path}`, mode: file.mode & 0o777 };
  switch (file.mode) {
    case 0o100644:
    case 0o100664:
    case 0o100755:
      if (content.length <= LFS_POINTER_MAX_BYTES && content.toString('latin1').startsWith(LFS_MARK))
        throw notRequested(source, 'lfs', `${file.path}, whose content is in Git LFS`);
      return tree.file(entry, [content]);
    case 0o120000:
      return tree.link(entry, 'symbolic', content.toString('utf8'));
    default:
      throw refused(entry.path, `has the mode ${file.mode.toString(8)}`);
  }
}

async function addSubmodules(first: readonly Submodule[], source: GitSource, deps: GitDeps, tree: Tree): Promise<void> {
  const open = [...first];
  for (let count = 1; open.length > 0; count += 1) {
    const next = open.shift();
    if (next === undefined) return;
    if (count > SUBMODULES_MAX)
      throw refused(next.prefix, `is beyond the ${SUBMODULES_MAX} submodules that a tool can have`);
    const { repository, version } = await fetchCommit(next.source, {}, deps, `submodule-${count}`);
    const inside = { ...next.source, submodules: source.submodules };
    open.push(...(await addCommit(repository, inside, version.commit, `${next.prefix}/`, deps, tree)));
  }
}

function* inBatches(files: readonly GitFile[]): Iterable<GitFile[]> {
  let batch: GitFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (batch.length > 0 && bytes + file.size > BATCH_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.size;
  }
  if (batch.length > 0) yield batch;
}

function notRequested(source: GitSource, option: 'submodules' | 'lfs', what: string): ContextdError {
  const remedy =
    option === 'lfs'
      ? 'contextd does not fetch from Git LFS. Ask the author for a release archive, or fetch the repository with git and git-lfs yourself and install the folder.'
      : `If you trust what it brings, add ?submodules=true: ${formatSource({ ...source, submodules: true })}`;
  return new ContextdError('PERMISSION_DENIED', `${formatSource(source)} holds ${what}`, { remedy });
}
