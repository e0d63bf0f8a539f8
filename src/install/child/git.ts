import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { ExpectedVersion } from '../messages.ts';
import { formatSource, type GitSource } from '../source.ts';
import { type LfsPointer, openLfs, parsePointer } from './git-lfs.ts';
import { type GitDeps, type GitVersion, Repository } from './git-repository.ts';
import { readSubmodules, type Submodule } from './git-submodules.ts';
import { type GitFile, listFiles } from './git-tree.ts';
import { refused } from './names.ts';
import type { Entry, Tree } from './tree.ts';

/** Repositories in repositories. */
const SUBMODULES_MAX = 20;
const FILE_MODES = [0o100644, 0o100664, 0o100755];
const LINK_MODE = 0o120000;
/** Bytes of blobs that are held at once; a larger blob comes alone. */
const BATCH_BYTES = 16 * 1024 * 1024;

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
  const now = await repository.resolve();
  const found = lockedVersion(source, now, expected);
  deps.meter.begin('download', `Downloading ${formatSource({ ...source, sub: '' })}`);
  const commit = await repository.fetch(found.commit === now.commit ? now : { ...found, ref: null });
  checkExpected(source, commit, expected);
  return { repository, version: { ...found, commit } };
}

/** A branch moves on, so a lock file means its commit. A tag that moved was changed by someone. */
function lockedVersion(source: GitSource, found: GitVersion, expected: ExpectedVersion): GitVersion {
  if (expected.commit !== undefined && found.ref?.startsWith('refs/tags/') === false)
    return { ...found, commit: expected.commit };
  checkExpected(source, found.commit, expected);
  return found;
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
  const pointers: LfsFile[] = [];
  for (const batch of inBatches(files.filter(({ type }) => type === 'blob'))) {
    const contents = await repository.readObjects(batch);
    for (const [position, file] of batch.entries()) {
      const content = contents[position] ?? Buffer.alloc(0);
      const pointer = isFile(file) ? parsePointer(content) : null;
      if (pointer === null) await addFile(entryOf(prefix, file), file.mode, content, tree);
      else if (source.lfs) pointers.push({ entry: entryOf(prefix, file), pointer });
      else throw notRequested(source, 'lfs', `${file.path}, whose content is in Git LFS`);
    }
  }
  await addLfsFiles(repository, source, pointers, deps, tree);
  return links.length === 0 ? [] : readSubmodules(repository, commit, source, links, prefix);
}

interface LfsFile {
  entry: Entry;
  pointer: LfsPointer;
}

function entryOf(prefix: string, { path, mode }: GitFile): Entry {
  return { path: `${prefix}${path}`, mode: mode & 0o777 };
}

function isFile({ mode }: GitFile): boolean {
  return FILE_MODES.includes(mode);
}

async function addFile(entry: Entry, mode: number, content: Buffer, tree: Tree): Promise<void> {
  if (FILE_MODES.includes(mode)) return tree.file(entry, [content]);
  if (mode === LINK_MODE) return tree.link(entry, 'symbolic', content.toString('utf8'));
  throw refused(entry.path, `has the mode ${mode.toString(8)}`);
}

async function addLfsFiles(
  repository: Repository,
  source: GitSource,
  files: readonly LfsFile[],
  deps: GitDeps,
  tree: Tree,
): Promise<void> {
  if (files.length === 0) return;
  const read = await openLfs(
    repository,
    source,
    files.map(({ pointer }) => pointer),
    deps,
  );
  for (const { entry, pointer } of files) await tree.file(entry, read(pointer));
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
  const remedy = `If you trust what it brings, add ?${option}=true: ${formatSource({ ...source, [option]: true })}`;
  return new ContextdError('PERMISSION_DENIED', `${formatSource(source)} holds ${what}`, { remedy });
}
