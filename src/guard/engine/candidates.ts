import { isErrno } from '../../core/errors.ts';
import { exactStatAt } from '../../fs/file-access.ts';
import { parentOf, type RawPath } from '../../fs/raw-path.ts';
import type { KnownDanger, WorkspaceIndex } from '../index/workspace-index.ts';
import { MOUNTED_GIT_DANGERS, PROTECTED_NAMES } from '../table/protected-names.ts';

/** Maximum number of nested protected names that are mounted. Each takes about 0.05 ms if no sandbox is prestarted. */
const NESTED_MAX = 64;
/** Maximum number of nested repositories that are checked before each sandbox. */
const REPOSITORIES_MAX = 400;
/** Possible locations of protected paths, not checked on disk. */
export interface Candidates {
  /** Names at the roots, repositories of the roots, and paths that the person's git runs. Always mounted. */
  readonly fixed: readonly RawPath[];
  /** Parts of each nested repository, and each `.git` file. */
  readonly repositories: readonly (readonly RawPath[])[];
  /** Other nested protected names. */
  readonly names: readonly RawPath[];
}

/** Nested names are sorted by depth, without those of installed packages. */
export function listCandidates(index: WorkspaceIndex): Candidates {
  const [workspace = '', ...others] = index.roots;
  const rootGit = `${workspace}/.git`;
  const ofPerson = [...index.dangers].flatMap(([path, danger]) =>
    isOfPerson(danger) ? [[path, danger] as const] : [],
  );
  const fixed = new Set([
    // A root that was not reread since it changed may have further names. A file that a job keeps recreating is left
    // until the job ends: a sandbox cannot be built around a file that comes and goes.
    ...(index.isUnread(workspace) ? PROTECTED_NAMES.map((name) => `${workspace}/${name}`) : []),
    ...ofPerson
      .flatMap(([path, { kind, madeAtMs }]) =>
        kind !== 'target' && madeAtMs === undefined && parentOf(path) === workspace ? [path] : [],
      )
      .sort(byDepth),
    ...[rootGit, ...others].flatMap(partsOf),
    ...index.targets,
  ]);
  // Paths created by runs are only searched after each run: a mount would make `git worktree remove` fail.
  const gitDirs = [...index.gitDirs].filter((path) => !fixed.has(path) && !index.isMadeByRuns(path)).sort(byDepth);
  const pointers = [...index.dangers].flatMap(([path, { kind }]) =>
    kind === 'pointer' && !fixed.has(path) && !index.isMadeByRuns(path) ? [path] : [],
  );
  const nested = ofPerson.flatMap(([path, { madeAtMs }]) =>
    madeAtMs === undefined && !fixed.has(path) && !isInstalled(path) ? [path] : [],
  );
  return {
    fixed: [...fixed],
    repositories: [...oldest(gitDirs).map(partsOf), ...oldest(pointers).map((path) => [path])],
    names: nested.sort(byDepth).slice(0, NESTED_MAX),
  };
}

function partsOf(gitDir: RawPath): RawPath[] {
  return [gitDir, ...MOUNTED_GIT_DANGERS.map((name) => `${gitDir}/${name}`)];
}

/** All paths in their order; if there are too many, the oldest ones. */
function oldest(paths: readonly RawPath[]): readonly RawPath[] {
  if (paths.length <= REPOSITORIES_MAX) return paths;
  const born = paths.map((path) => ({ path, bornNs: bornAt(path) }));
  return born
    .sort((a, b) => compareAge(a.bornNs, b.bornNs))
    .slice(0, REPOSITORIES_MAX)
    .map(({ path }) => path);
}

function bornAt(path: RawPath): bigint {
  try {
    return exactStatAt(path)?.birthtimeNs ?? 0n;
  } catch (cause) {
    if (isErrno(cause)) return 0n;
    throw cause;
  }
}

/** Whether a danger is mounted when a person created it. Anyone may change a harmless file with a `checked` name. */
export function isOfPerson({ kind, isHarmless }: KnownDanger): boolean {
  return kind === 'name' || kind === 'target' || (kind === 'checked' && isHarmless === false);
}

/** A mount would keep `npm ci` from removing the packages. The search after the run finds changes. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/');
}

function byDepth(a: RawPath, b: RawPath): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1);
}

export function compareAge(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
