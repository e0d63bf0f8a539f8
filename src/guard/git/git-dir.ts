import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { linkTextAt, readSmallFile, realPathOf, statAt } from '../../fs/file-access.ts';
import { nameOf, parentOf, parentsBetween, type RawPath, toRaw, toText } from '../../fs/raw-path.ts';
import { parseGitConfig } from './config.ts';
import { STRATEGY } from './config-keys.ts';

/** Largest `.git`, `gitdir` or `commondir` file that is read. */
const POINTER_MAX_BYTES = 8192;
/** Largest configuration that is read. */
const CONFIG_MAX_BYTES = 1024 * 1024;

/**
 * The common git directory of a workspace that is a linked worktree; null for any other workspace. The `.git` of a worktree
 * is a file, and a tool could write one that names any directory of the host. So the named directory must point back:
 * `<common>/worktrees/<name>/gitdir` must lead to this `.git`, and a tool cannot write there.
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

/** The git directory of the repository around a directory, as git finds it; null outside of repositories. */
export function gitDirOf(dir: RawPath): RawPath | null {
  for (const place of [dir, ...parentsBetween('', dir).reverse()]) {
    const stats = statAt(`${place}/.git`);
    if (stats !== null) return stats.isDirectory() ? `${place}/.git` : (gitDirNamedBy(`${place}/.git`)?.target ?? null);
  }
  return null;
}

/**
 * The directory that a `.git` file or link names, whatever the directory contains: git uses it as a repository as soon as
 * the rest is there. Null for a file that git does not read as a pointer.
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

/** A path in a `.git` file is relative to the directory that holds `pointer`, even if `pointer` is a link. */
function leadOf(pointer: RawPath, file: RawPath): Lead | null {
  const named = /^gitdir: (.+)$/s.exec(readPointer(file) ?? '')?.[1];
  return named === undefined ? null : follow(parentOf(pointer), named);
}

/** The directory that a `commondir` file names. git reads objects, references, configuration and hooks there. */
export function commonDirNamedBy(path: RawPath): Lead | null {
  const named = readPointer(path);
  return named === null || named === '' ? null : follow(parentOf(path), named);
}

/** The names that make git use a directory as a repository if nothing points to it (setup.c, is_git_directory). */
const REPOSITORY_NAMES = ['HEAD', 'commondir', 'objects', 'refs'] as const;

export function isRepositoryName(name: string): boolean {
  return REPOSITORY_NAMES.some((one) => one === name);
}

/** HEAD, and objects and refs here or in the directory that `commondir` names. */
export function makeRepository(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}

/** Whether git uses the directory as a repository because of its content. */
export function isGitDir(path: RawPath): boolean {
  return makeRepository(new Set(REPOSITORY_NAMES.filter((name) => statAt(`${path}/${name}`) !== null)));
}

/** The kind of hashes in a git directory; it decides how git reads an index. Null if the configuration does not say. */
export function objectFormatOf(gitDir: RawPath): string | null {
  const common = statAt(`${gitDir}/commondir`) === null ? gitDir : commonDirNamedBy(`${gitDir}/commondir`)?.target;
  const text = common === undefined ? null : readSmallFile(`${common}/config`, CONFIG_MAX_BYTES);
  if (text === null) return null;
  return (
    parseGitConfig(text)
      ?.findLast(({ key }) => key === 'extensions.objectformat')
      ?.value?.toLowerCase() ?? null
  );
}

/** `git worktree add` makes a `commondir` that leads to the repository around it. */
export function isOwnCommonDir(path: RawPath): boolean {
  return nameOf(parentOf(parentOf(path))) === 'worktrees' && readPointer(path) === '../..';
}

function pointsBack(gitDir: RawPath, pointer: RawPath): boolean {
  const back = posix.resolve(gitDir, readPointer(`${gitDir}/gitdir`) ?? '');
  const place = realPathOf(parentOf(back));
  return place !== null && `${place}/.git` === pointer;
}

/** Reads a pointer as git does: trailing line ends are cut off, and a NUL ends it. */
function readPointer(path: RawPath): string | null {
  return (
    readSmallFile(path, POINTER_MAX_BYTES)
      ?.replace(/[\r\n]+$/, '')
      .replace(/\0.*$/s, '') ?? null
  );
}

/** The kernel follows at most this many links. */
const LINKS_MAX = 40;

/** Where a path leads now. */
export interface Lead {
  /** A path without links. Names that do not exist yet are kept as they are. */
  readonly target: RawPath;
  readonly exists: boolean;
  /** The symbolic links on the way, in order. */
  readonly links: readonly RawPath[];
}

/**
 * Follows `text` from the directory `base` as the kernel does: a link is followed before the `..` after it. Returns null for
 * a loop of links.
 */
export function follow(base: RawPath, text: string): Lead | null {
  const links: RawPath[] = [];
  const rest = text.split('/').reverse();
  if (!text.startsWith('/')) rest.push(...base.split('/').reverse());
  let here: RawPath = '';
  let exists = true;
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      here = parentOf(here);
      continue;
    }
    const path = `${here}/${name}`;
    const link: { text: string | null } | null = exists ? linkAt(path) : null;
    if (link === null || link.text === null) {
      exists &&= link !== null;
      here = path;
      continue;
    }
    links.push(path);
    if (links.length > LINKS_MAX) return null;
    if (link.text.startsWith('/')) here = '';
    rest.push(...link.text.split('/').reverse());
  }
  return { target: here === '' ? '/' : here, exists, links };
}

/** The text of a link, or `text: null` for anything else. Null if nothing is there or it cannot be read. */
function linkAt(path: RawPath): { text: string | null } | null {
  try {
    const stats = statAt(path);
    if (stats === null) return null;
    return { text: stats.isSymbolicLink() ? linkTextAt(path) : null };
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

/** Every command of a rebase todo list except `exec`, which runs a program (sequencer.c, todo_command_info). */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  'p',
  'pick',
  'revert',
  'e',
  'edit',
  'r',
  'reword',
  'f',
  'fixup',
  's',
  'squash',
  'l',
  'label',
  't',
  'reset',
  'm',
  'merge',
  'u',
  'update-ref',
  'noop',
  'd',
  'drop',
  'b',
  'break',
]);

/** Keys of `sequencer/opts` that name no program. */
const OPTION =
  /^options\.(no-commit|edit|allow-empty|allow-empty-message|drop-redundant-commits|keep-redundant-commits|signoff|record-origin|allow-ff|mainline|strategy-option|gpg-sign|allow-rerere-auto|default-msg-cleanup)$/;

/** Options that `git am` passes to `git apply`. Other options write files anywhere. */
const APPLY_OPTION =
  /^'(--whitespace=[a-z-]+|-[Cp]\d+|--directory=(?![/.])[^']*|--(exclude|include)=[^']*|--reject|--ignore-(whitespace|space-change))'$/;

/** Assignments as `git am` and `git rebase` write them. Old versions of git run the file in a shell. */
const AUTHOR_SCRIPT = /^(GIT_AUTHOR_(NAME|EMAIL|DATE)='([^']|'\\''|'\\!')*'\n?)*$/;

/**
 * Whether a file that holds the state of a stopped rebase, cherry-pick or am runs no program when a person continues it.
 * `name`: a key of GIT_DANGERS.
 */
export function isHarmlessState(name: string, text: string): boolean {
  switch (name) {
    case 'rebase-merge/git-rebase-todo':
    case 'sequencer/todo':
      return programLines(text).length === 0;
    case 'rebase-merge/strategy':
    case 'rebase-apply/strategy':
      return STRATEGY.test(text.trim());
    case 'sequencer/opts':
      return areHarmlessOptions(text);
    case 'rebase-merge/author-script':
    case 'rebase-apply/author-script':
      return AUTHOR_SCRIPT.test(text);
    case 'rebase-apply/apply-opt':
      return (text.match(/'[^']*'|[^ \n]/g) ?? []).every((word) => APPLY_OPTION.test(word));
    case 'BISECT_NAMES':
      return /^( '[^']*')*\n*$/.test(text);
    default:
      return false;
  }
}

/** The lines of a rebase todo list that run a program, or that git does not know. */
export function programLines(text: string): string[] {
  return text.split('\n').filter((line) => {
    const word = /^[ \t\r]*([^ \t\r]*)/.exec(line)?.[1] ?? '';
    return word !== '' && !/^[#;]/.test(word) && !INSTRUCTIONS.has(word);
  });
}

function areHarmlessOptions(text: string): boolean {
  const entries = parseGitConfig(text);
  return (
    entries?.every(({ key, value }) => (key === 'options.strategy' ? STRATEGY.test(value ?? '') : OPTION.test(key))) ===
    true
  );
}
