import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { readSmallFile, realPathOf, statAt } from './inode.ts';
import { follow, type Lead } from './lead.ts';
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
  const gitDir = gitDirNamedBy(pointer);
  if (gitDir?.exists !== true) return null;
  const common = realPathOf(posix.resolve(gitDir.target, readPointer(`${gitDir.target}/commondir`) ?? ''));
  if (common === null || parentOf(gitDir.target) !== `${common}/worktrees`) return null;
  if (!pointsBack(gitDir.target, pointer)) return null;
  return isGitDir(common) && statAt(common)?.uid === statAt(workspace)?.uid ? common : null;
}

/**
 * The directory that a `.git` file or link names, whatever it contains: git takes it for a repository as soon as the
 * rest is there. Null for a file that git does not take for a pointer.
 */
export function gitDirNamedBy(pointer: RawPath): Lead | null {
  if (statAt(pointer)?.isSymbolicLink() === true) {
    const lead = follow(parentOf(pointer), nameOf(pointer));
    if (lead === null || !lead.exists || statAt(lead.target)?.isFile() !== true) return lead;
    const through = leadOf(pointer, lead.target);
    return through === null ? null : { ...through, links: [...lead.links, ...through.links] };
  }
  return leadOf(pointer, pointer);
}

/** A path in a `.git` file is relative to the place of its name. */
function leadOf(pointer: RawPath, file: RawPath): Lead | null {
  const named = /^gitdir: (.+)$/s.exec(readPointer(file) ?? '')?.[1];
  return named === undefined ? null : follow(parentOf(pointer), named);
}

/** The directory that a `commondir` file names, which git asks for objects, references, configuration and hooks. */
export function commonDirNamedBy(path: RawPath): Lead | null {
  const named = readPointer(path);
  return named === null || named === '' ? null : follow(parentOf(path), named);
}

/** Names by which git takes a directory for a repository where nothing points to it (setup.c, is_git_directory). */
const REPOSITORY_NAMES = ['HEAD', 'commondir', 'objects', 'refs'] as const;

export function isRepositoryName(name: string): boolean {
  return REPOSITORY_NAMES.some((one) => one === name);
}

/** HEAD, and objects and refs here or where `commondir` says. */
export function makeRepository(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}

/** Whether git takes the directory for a repository by what it contains. */
export function isGitDir(path: RawPath): boolean {
  return makeRepository(new Set(REPOSITORY_NAMES.filter((name) => statAt(`${path}/${name}`) !== null)));
}

/** `git worktree add` makes a `commondir` that leads to the repository it lies in. */
export function isOwnCommonDir(path: RawPath): boolean {
  return nameOf(parentOf(parentOf(path))) === 'worktrees' && readPointer(path) === '../..';
}

function pointsBack(gitDir: RawPath, pointer: RawPath): boolean {
  const back = posix.resolve(gitDir, readPointer(`${gitDir}/gitdir`) ?? '');
  const place = realPathOf(parentOf(back));
  return place !== null && `${place}/.git` === pointer;
}

/** As git reads one: line ends behind it do not count, and a NUL ends it. */
function readPointer(path: RawPath): string | null {
  return (
    readSmallFile(path, POINTER_MAX_BYTES)
      ?.replace(/[\r\n]+$/, '')
      .replace(/\0.*$/s, '') ?? null
  );
}
