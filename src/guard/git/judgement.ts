import { isUtf8 } from 'node:buffer';
import { closeSync, opendirSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openDirectory, readOwnFile, readSmallFile, statAt } from '../../fs/file-access.ts';
import { below, isWithin, nameOf, parentOf, type RawPath } from '../../fs/raw-path.ts';
import { type Entry, readDirectory } from '../../fs/read-directory.ts';
import { isHarmlessContent } from '../content/content.ts';
import type { ContentRule } from '../content/rule.ts';
import { contentRuleIn, type DangerKind, GIT_DANGERS, isSharedIndex } from '../table/protected-names.ts';
import { parseGitConfig } from './config.ts';
import { findUnsafeKey, nameOfKey, type Places, SPARSE_KEYS, type UnsafeKey, unsafePartsOf } from './config-keys.ts';
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
import { isSoundIndex } from './index-file.ts';
import { alternatesNamedBy, isRepositoryInside, isSafePlace, STATE_MAX_BYTES, type Trees } from './leads.ts';

/** Largest index that is read: that of a repository of about a million files. */
const INDEX_MAX_BYTES = 128 * 1024 * 1024;
/** Entries of a hooks directory that are checked; git's template has fourteen. */
const HOOKS_MAX = 500;
/** Entries of a directory that would become a git directory; a larger one is not harmless. */
const ENTRIES_MAX = 20_000;

/** What a judgement needs to know about the workspace. */
export interface Ground extends Trees {
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
    case 'exit':
    case 'special':
    case 'lock':
      return false;
    case 'checked':
      return isHarmlessFile(path, ground);
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
      if (text !== null && nameOf(path) === 'config.worktree') return hasOnlySparseKeys(text);
      return text !== null && unsafeKeyIn(path, text, ground) === null;
    }
    case 'alternates':
      return alternatesNamedBy(path)?.every((lead) => isSafePlace(lead, ground)) === true;
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

/**
 * Whether a `config.worktree` says only which files a sparse checkout has. It overrides `config`, so any other key could send
 * the person's push elsewhere.
 */
export function hasOnlySparseKeys(text: string): boolean {
  return otherThanSparse(text)?.length === 0;
}

/** Its other entries, as texts; null if git cannot parse it. */
function otherThanSparse(text: string): string[] | null {
  const others = parseGitConfig(text)?.filter((entry) => !SPARSE_KEYS.has(nameOfKey(entry)));
  return others?.map(({ key, subsection, value }) => JSON.stringify([key, subsection, value])) ?? null;
}

function isHarmlessFile(path: RawPath, { roots }: Ground): boolean {
  const root = roots.find((one) => isWithin(one, path)) ?? '';
  const rule = contentRuleIn(below(root, parentOf(path)), nameOf(path));
  return rule !== null && passes(rule, path);
}

/** Largest file that is read because its name is `checked`. */
const CONTENT_MAX_BYTES = 1024 * 1024;

/** Whether this is a regular file with one name whose content passes the rule. Programs read it as UTF-8. */
export function passes(rule: ContentRule, path: RawPath): boolean {
  const bytes = readOwnFile(path, CONTENT_MAX_BYTES);
  return bytes !== null && isUtf8(bytes) && isHarmlessContent(rule, bytes.toString('utf8'));
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

/**
 * What may run programs in a rebase todo list, line by line, or in a git configuration, entry by entry: a file that a run
 * rewrote is the person's as long as it has no others. Undefined for any other file and if it cannot be read.
 */
export function programsIn(kind: DangerKind, path: RawPath, ground: Ground): readonly string[] | undefined {
  if (kind !== 'config' && !(kind === 'state' && path.endsWith('todo'))) return undefined;
  try {
    const text = readSmallFile(path, STATE_MAX_BYTES);
    if (text === null) return undefined;
    if (kind !== 'config') return programLines(text);
    if (nameOf(path) === 'config.worktree') return otherThanSparse(text) ?? undefined;
    return unsafePartsOf(text, placesAround(path, ground)) ?? undefined;
  } catch (cause) {
    if (isErrno(cause)) return undefined;
    throw cause;
  }
}

/** Whether git would connect, with this configuration, in commands that ask for no transfer. */
export function connectsUnasked(config: RawPath, ground: Ground): boolean {
  const text = readSmallFile(config, STATE_MAX_BYTES);
  return text !== null && unsafeKeyIn(config, text, ground)?.connects === true;
}

function unsafeKeyIn(config: RawPath, text: string, ground: Ground): UnsafeKey | null {
  return findUnsafeKey(text, placesAround(config, ground));
}

function placesAround(config: RawPath, ground: Ground): Places {
  const gitDir = parentOf(config);
  return {
    mayBeWorktree: (value) => isOwnWorktree(follow(gitDir, value), gitDir, ground),
    mayBeRepository: (value) => isRepositoryInside(value, gitDir, ground),
  };
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
      if (kind === 'special') return false;
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
