import { closeSync, opendirSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openDirectory, openFile, readOwnFile, readSmallFile, readUpTo, statAt } from './file-access.ts';
import { parseGitConfig } from './git-config.ts';
import { findRunningKey, findUnsafeKey } from './git-config-keys.ts';
import {
  commonDirNamedBy,
  follow,
  gitDirNamedBy,
  isHarmlessState,
  isOwnCommonDir,
  type Lead,
  objectFormatOf,
  programLines,
} from './git-dir.ts';
import { isSoundIndex } from './git-index.ts';
import { type DangerKind, GIT_DANGERS, isSharedIndex } from './protected-names.ts';
import { isWithin, nameOf, parentOf, type RawPath } from './raw-path.ts';
import { type Entry, readDirectory } from './read-directory.ts';

/** Largest configuration or state file that is read. git writes a few hundred bytes, and more for a rebase of thousands of commits. */
const STATE_MAX_BYTES = 1024 * 1024;
/** Largest index that is read: that of a repository of about a million files. */
const INDEX_MAX_BYTES = 128 * 1024 * 1024;
/** Entries of a hooks directory that are checked; git's template has fourteen. */
const HOOKS_MAX = 500;
/** Entries of a directory that would become a git directory; a larger one is not harmless. */
const ENTRIES_MAX = 20_000;

/** Largest file that is read as a git configuration. */
const CONFIG_MAX_BYTES = 1024 * 1024;
/** Every key that is searched for contains one of these; most files contain none and need no parsing. */
const TELLING =
  /fsmonitor|hookspath|command|cmd|proxy|pager|editor|askpass|attributesfile|worktree|alias|path|insteadof|program|helper|hook|textconv|driver|clean|smudge|process|diff|external|browser|httpd|smtp|tunnel|pack|vcs|url|remote|update|allow|templatedir/i;

/** What a judgement needs to know about the workspace. */
export interface Ground {
  /** The writable trees. Nothing may lead out of them. */
  readonly roots: readonly RawPath[];
  /** Other writable trees, which other guards watch. */
  readonly companions: readonly RawPath[];
  /** Whether this is a git directory whose parts are judged anyway. */
  isGitDir(path: RawPath): boolean;
  isCompanionGitDir(path: RawPath): boolean;
}

/**
 * Whether a dangerous path that a run made may stay. `git init`, `clone`, `worktree add`, `submodule` and a stopped rebase
 * are honest work, so the content decides inside a git directory. A file must be regular and have only one name: through
 * another name it could be changed after it was read. Settings of agents, editors and shells never stay, and neither do
 * attributes and files that the person's own configuration runs.
 */
export function mayStay(kind: DangerKind, path: RawPath, ground: Ground): boolean {
  try {
    return judge(kind, path, ground, new Set());
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** Whether nothing in a directory would run a program or lead elsewhere if git used it as a repository. */
export function isHarmlessGitDir(dir: RawPath, ground: Ground): boolean {
  try {
    return judgeGitDir(dir, ground, new Set());
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

function judge(kind: DangerKind, path: RawPath, ground: Ground, seen: Set<RawPath>): boolean {
  switch (kind) {
    case 'name':
    case 'attributes':
    case 'target':
    case 'stray':
      return false;
    case 'directory':
      return statAt(path)?.isDirectory() === true;
    case 'link':
      return staysInGitDir(path, ground);
    case 'hooks':
    case 'remotes':
      return hasOnlySamples(path);
    case 'commondir':
      return isOwnCommonDir(path) && leadsToHarmless(commonDirNamedBy(path), ground, seen);
    case 'pointer':
      return statAt(path)?.isFile() === true && leadsToHarmless(gitDirNamedBy(path), ground, seen);
    case 'config': {
      const text = readSmallFile(path, STATE_MAX_BYTES);
      const mayLeadTo = (value: string) => isOwnWorktree(follow(parentOf(path), value), parentOf(path), ground);
      return text !== null && findUnsafeKey(text, mayLeadTo) === null;
    }
    case 'gitdir': {
      const lead = commonDirNamedBy(path);
      const trees = [...ground.roots, ...ground.companions];
      const isInside = trees.some((tree) => lead !== null && isWithin(tree, lead.target));
      return lead !== null && isInside && lead.links.length === 0 && nameOf(lead.target) === '.git';
    }
    case 'state': {
      const text = readSmallFile(path, STATE_MAX_BYTES);
      const name = [...GIT_DANGERS.keys()].find((one) => path.endsWith(`/${one}`));
      return text !== null && name !== undefined && isHarmlessState(name, text);
    }
    case 'paths': {
      // Commands have no rerere: what is not empty was not written by their git. git uses its paths unchecked.
      if (nameOf(path) === 'MERGE_RR') return readSmallFile(path, 0) === '';
      const index = readOwnFile(path, INDEX_MAX_BYTES);
      return index !== null && isSoundIndex(index, objectFormatOf(parentOf(path)) === 'sha256' ? 32 : 20);
    }
  }
}

function leadsToHarmless(lead: Lead | null, ground: Ground, seen: Set<RawPath>): boolean {
  if (!isSafeDirectory(lead, ground)) return false;
  return (
    ground.isGitDir(lead.target) || ground.isCompanionGitDir(lead.target) || judgeGitDir(lead.target, ground, seen)
  );
}

/** A lead through a link does not count: it could lead elsewhere a moment later. */
function isSafeDirectory(lead: Lead | null, { roots, companions }: Ground): lead is Lead {
  if (lead === null || !lead.exists || lead.links.length > 0) return false;
  return (
    [...roots, ...companions].some((tree) => isWithin(tree, lead.target)) && statAt(lead.target)?.isDirectory() === true
  );
}

/** The lines of a rebase todo list that run programs; undefined for any other file and if it cannot be read. */
export function programsInTodo(path: RawPath): readonly string[] | undefined {
  if (!path.endsWith('todo')) return undefined;
  try {
    const text = readSmallFile(path, STATE_MAX_BYTES);
    return text === null ? undefined : programLines(text);
  } catch (cause) {
    if (isErrno(cause)) return undefined;
    throw cause;
  }
}

/** Where `core.worktree` of a configuration leads; null if the key is missing or the file cannot be read. */
export function worktreeNamedBy(config: RawPath): Lead | null {
  const text = readSmallFile(config, STATE_MAX_BYTES);
  if (text === null || !/worktree/i.test(text)) return null;
  const named = parseGitConfig(text)?.findLast(({ key, subsection }) => key === 'core.worktree' && subsection === null);
  return named === undefined ? null : follow(parentOf(config), named.value ?? '');
}

/** A worktree in the workspace whose `.git` leads back: git writes there anyway. */
function isOwnWorktree(lead: Lead | null, gitDir: RawPath, ground: Ground): boolean {
  return isSafeDirectory(lead, ground) && leadBack(`${lead.target}/.git`) === gitDir;
}

function leadBack(dotGit: RawPath): RawPath | null {
  return statAt(dotGit)?.isDirectory() === true ? dotGit : (gitDirNamedBy(dotGit)?.target ?? null);
}

function judgeGitDir(dir: RawPath, ground: Ground, seen: Set<RawPath>): boolean {
  if (seen.has(dir)) return true;
  seen.add(dir);
  const areHarmless = [...GIT_DANGERS].every(([name, kind]) => {
    const path = `${dir}/${name}`;
    return statAt(path) === null || judge(kind, path, ground, seen);
  });
  return areHarmless && hasOnlyHarmlessEntries(dir, ground);
}

/** The nearest git directory that holds `path`, or null. */
export function gitDirAround(path: RawPath, ground: Pick<Ground, 'isGitDir'>): RawPath | null {
  for (let dir = parentOf(path); dir !== ''; dir = parentOf(dir)) {
    if (nameOf(dir) === '.git' || ground.isGitDir(dir)) return dir;
  }
  return null;
}

/** git writes reflogs, the index and messages through links. A link that stays within its git directory is harmless. */
function staysInGitDir(link: RawPath, ground: Pick<Ground, 'isGitDir'>): boolean {
  const gitDir = gitDirAround(link, ground);
  const lead = follow(parentOf(link), nameOf(link));
  return gitDir !== null && lead !== null && isWithin(gitDir, lead.target);
}

/** Directories that hold only objects. */
const OBJECTS = /\/objects\/[0-9a-f]{2}$/;

function hasOnlyHarmlessEntries(gitDir: RawPath, ground: Ground): boolean {
  const open = [gitDir];
  let entries = 0;
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    const found: Entry[] = [];
    readDirectory(dir, (entry) => found.push(entry));
    entries += found.length;
    if (entries > ENTRIES_MAX) return false;
    for (const { name, kind } of found) {
      const path = `${dir}/${name}`;
      if (kind === 'dir' && !OBJECTS.test(path)) open.push(path);
      if (kind === 'link' && !staysInGitDir(path, { isGitDir: (one) => one === gitDir })) return false;
      if (isSharedIndex(name) && !judge('paths', path, ground, new Set())) return false;
    }
  }
  return true;
}

/** git never runs `*.sample`. */
function hasOnlySamples(path: RawPath): boolean {
  const fd = openDirectory(path);
  if (fd === null) return false;
  try {
    const dir = opendirSync(fdPath(fd), { encoding: 'latin1' });
    try {
      for (let count = 0; count < HOOKS_MAX; count++) {
        const entry = dir.readSync();
        if (entry === null) return true;
        if (!entry.name.endsWith('.sample')) return false;
      }
      return false;
    } finally {
      dir.closeSync();
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * The key with which a file would run a program, include a file or leave the tree if git read it as a configuration. Null if
 * the file has no such key, if git could not read it, or if it is larger than 1 MiB. One line elsewhere can make git read a
 * configuration long after it was written, so files of every name are checked.
 */
export function findStrayKey(path: RawPath): string | null {
  const fd = openFile(path);
  if (fd === null) return null;
  try {
    const text = readUpTo(fd, CONFIG_MAX_BYTES);
    if (text === null || !beginsLikeConfig(text) || !TELLING.test(text)) return null;
    const entries = parseGitConfig(text);
    return entries === null ? null : findRunningKey(entries);
  } finally {
    closeSync(fd);
  }
}

/** Apart from comments, a configuration begins with a section: git refuses a key without one. */
function beginsLikeConfig(text: string): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?(?:[ \t\r\n]|[#;][^\n]*\n)*\[/.test(text);
}
