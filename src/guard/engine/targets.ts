import { closeSync } from 'node:fs';
import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { openFile, readUpTo, realPathOf, statAt } from '../../fs/file-access.ts';
import { isWithin, nameOf, parentOf, parentsBetween, type RawPath, toRaw } from '../../fs/raw-path.ts';
import { readDirectory } from '../../fs/read-directory.ts';
import type { Person } from '../contract/person.ts';
import { type GitEntry, parseGitConfig } from '../git/config.ts';
import { isHarmless, nameOfKey } from '../git/config-keys.ts';
import { follow } from '../git/git-dir.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';

/** Maximum size of a configuration or hook that is read. */
const READ_MAX_BYTES = 256 * 1024;
/** Maximum depth of nested includes, as in git. */
const INCLUDES_MAX = 10;
/** Maximum number of paths protected because the person's settings name them. Each may cost a mount. */
const TARGETS_MAX = 200;

/** Word in a hook → settings that the hook manager reads from the root of the worktree. */
const HOOK_MANAGERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['pre-commit', ['.pre-commit-config.yaml']],
  ['prek', ['.pre-commit-config.yaml', 'prek.toml']],
  [
    'lefthook',
    ['yml', 'yaml', 'toml', 'json'].flatMap((type) =>
      ['lefthook', '.lefthook', 'lefthook-local', '.lefthook-local'].map((name) => `${name}.${type}`),
    ),
  ],
  ['overcommit', ['.overcommit.yml']],
]);

/** Keys whose value names a directory of programs; other keys name files. */
const DIRECTORY_KEYS: ReadonlySet<string> = new Set(['core.hookspath', 'init.templatedir']);
/** Keys whose file is only read as text. */
const TEXT_KEYS: ReadonlySet<string> = new Set([
  'blame.ignorerevsfile',
  'commit.template',
  'core.excludesfile',
  'fsck.skiplist',
  'mailmap.file',
]);
const INCLUDE_KEYS: ReadonlySet<string> = new Set(['include.path', 'includeif.*.path']);
const SCRIPT = /\.(sh|bash|zsh|py|rb|pl|php|lua|[cm]?[jt]s)$/;
/** Maximum number of hooks read per directory; git has fewer than thirty. */
const HOOKS_MAX = 100;

interface Found {
  readonly paths: Set<RawPath>;
  /** Paths as written by the person, relative to every worktree. */
  readonly relative: Set<string>;
  /** Directories with hooks of the person. */
  readonly hookDirs: Set<RawPath>;
}

interface Cached {
  readonly stamp: string;
  readonly entries: readonly GitEntry[];
}

/**
 * Finds paths in the workspace that the person's git configuration and hooks run or read: `core.hooksPath=.githooks`,
 * `include.path=../team.gitconfig`, a filter that is a script of the project. git on the host would run them, so a run
 * must not change them, and such a path created by a run is moved away.
 */
export class Targets {
  readonly #index: WorkspaceIndex;
  readonly #person: Person;
  readonly #cache = new Map<RawPath, Cached>();
  #seen = '';

  constructor(index: WorkspaceIndex, person: Person) {
    this.#index = index;
    this.#person = person;
  }

  /** Rereads settings that changed. Costs three lstats per git directory. */
  refresh(): void {
    const gitDirs = this.#gitDirs();
    const parts = gitDirs.flatMap((dir) => [`${dir}/config`, `${dir}/config.worktree`, `${dir}/hooks`]);
    const outside = this.#person.gitConfigs.map(toRaw);
    const seen = JSON.stringify([...outside, ...parts].map((path) => [path, stampOf(path)]));
    if (seen === this.#seen) return;
    this.#seen = seen;
    const found: Found = { paths: new Set(), relative: new Set(), hookDirs: new Set() };
    const worktrees = gitDirs.flatMap((dir) => this.#worktreesOf(dir));
    for (const file of outside) this.#collect(file, worktrees, found, 0);
    for (const gitDir of gitDirs) {
      const own = this.#worktreesOf(gitDir);
      this.#collect(`${gitDir}/config`, own, found, 0);
      this.#collect(`${gitDir}/config.worktree`, own, found, 0);
      found.hookDirs.add(`${gitDir}/hooks`);
    }
    for (const dir of found.hookDirs) for (const path of hookTargets(dir, worktrees)) found.paths.add(path);
    const inside = [...found.paths].filter((path) => this.#isProtectable(path));
    this.#index.setTargets(new Set(inside.slice(0, TARGETS_MAX)), new Set([...found.relative].slice(0, TARGETS_MAX)));
  }

  /** Git directories of the workspace and above it: a project may be a part of a repository. */
  #gitDirs(): RawPath[] {
    const [workspace = '', ...others] = this.#index.roots;
    const around = [...parentsBetween('', workspace), workspace].map((dir) => `${dir}/.git`);
    return [...new Set([...around, ...others, ...this.#index.gitDirs])];
  }

  /** Worktrees of a git directory: the one next to it, and each whose `.git` file points to it or into it. */
  #worktreesOf(gitDir: RawPath): RawPath[] {
    const beside = nameOf(gitDir) === '.git' ? parentOf(gitDir) : gitDir;
    const linked = [...this.#index.leads].filter(([from, to]) => nameOf(from) === '.git' && isWithin(gitDir, to));
    return [...new Set([beside, ...linked.map(([from]) => parentOf(from))])];
  }

  #collect(config: RawPath, worktrees: readonly RawPath[], found: Found, depth: number): void {
    for (const entry of this.#entriesOf(config)) {
      const [name, value] = [nameOfKey(entry), entry.value ?? ''];
      if (name === 'core.worktree' || TEXT_KEYS.has(name) || isHarmless(name, value)) continue;
      if (INCLUDE_KEYS.has(name)) {
        const file = this.#resolve(parentOf(config), value);
        if (file === null) continue;
        found.paths.add(file);
        if (depth < INCLUDES_MAX) this.#collect(file, worktrees, found, depth + 1);
        continue;
      }
      for (const worktree of worktrees) this.#collectNamed(worktree, name, value, found);
      if (DIRECTORY_KEYS.has(name)) addRelative(value, found);
    }
  }

  /** Adds the paths in a value: its words that contain a slash or are files of the worktree. */
  #collectNamed(worktree: RawPath, name: string, value: string, found: Found): void {
    if (DIRECTORY_KEYS.has(name)) {
      const path = this.#resolve(worktree, value);
      if (path === null) return;
      found.paths.add(path);
      if (name === 'core.hookspath') found.hookDirs.add(path);
      return;
    }
    for (const word of value.split(/[\s'"`;|&()<>=!]+/)) {
      if (word === '' || word.startsWith('-') || word.includes('://')) continue;
      const path = this.#resolve(worktree, word);
      if (path === null || statAtOrNull(path)?.isDirectory() === true) continue;
      const isFile = statAtOrNull(path)?.isFile() === true;
      if (isFile || word.includes('/')) found.paths.add(path);
      if (isFile) addRelative(word, found);
    }
  }

  #resolve(base: RawPath, named: string): RawPath | null {
    const text = named.startsWith('~/') ? `${toRaw(this.#person.home)}${named.slice(1)}` : named;
    return text === '' || text.includes('\0') ? null : (follow(base, text)?.target ?? null);
  }

  #entriesOf(file: RawPath): readonly GitEntry[] {
    const stamp = stampOf(file);
    const known = this.#cache.get(file);
    if (known?.stamp === stamp) return known.entries;
    const text = stamp === '' ? null : readText(file);
    const entries = (text === null ? null : parseGitConfig(text)) ?? [];
    this.#cache.set(file, { stamp, entries });
    return entries;
  }

  /** Whether a path is inside the workspace and is neither a root nor a git directory, in which git must write. */
  #isProtectable(path: RawPath): boolean {
    const { roots } = this.#index;
    if (!roots.some((root) => path !== root && isWithin(root, path))) return false;
    return !this.#index.isGitDir(path) && nameOf(path) !== '.git' && !roots.some((root) => isWithin(path, root));
  }
}

/** Adds a path that exists at the same place in every worktree, including worktrees that a run creates. */
function addRelative(named: string, found: Found): void {
  const path = posix.normalize(named).replace(/\/$/, '');
  if (!/^[/~.]?$|^\.?\.\/|^[/~]/.test(path)) found.relative.add(path);
}

/**
 * Paths that the hooks in a directory point to, run or read: link targets, programs of the project, and settings of the
 * hook manager that installed them.
 */
function hookTargets(dir: RawPath, worktrees: readonly RawPath[]): RawPath[] {
  return hooksIn(dir).flatMap((hook) => {
    const lead = follow(dir, nameOf(hook));
    const text = readText(hook) ?? '';
    const words = new Set(text.split(/[\s'"`;|&()<>={}]+/).filter((word) => word !== '' && !word.startsWith('-')));
    const managed = [...HOOK_MANAGERS].flatMap(([word, files]) => (text.includes(word) ? files : []));
    return [
      ...(lead === null || lead.links.length === 0 ? [] : [lead.target]),
      ...worktrees.flatMap((worktree) => [
        ...managed.map((file) => `${worktree}/${file}`),
        ...[...words].flatMap((word) => programAt(worktree, word)),
      ]),
    ];
  });
}

/** A script or executable file of the worktree. Other files that a hook reads may be written by the agent. */
function programAt(worktree: RawPath, word: string): RawPath[] {
  const path = follow(worktree, word)?.target;
  const stats = path === undefined ? null : statAtOrNull(path);
  if (path === undefined || stats?.isFile() !== true) return [];
  return SCRIPT.test(path) || (stats.mode & 0o111) !== 0 ? [path] : [];
}

/** Hooks in a directory, without git's samples. */
function hooksIn(dir: RawPath): RawPath[] {
  const paths: RawPath[] = [];
  try {
    readDirectory(dir, ({ name, kind }) => {
      if (kind !== 'dir' && !name.endsWith('.sample')) paths.push(`${dir}/${name}`);
    });
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
  return paths.slice(0, HOOKS_MAX);
}

/** Reads a file of the person, following links. Opens nothing that could block, such as a pipe. */
function readText(file: RawPath): string | null {
  try {
    const real = realPathOf(file);
    const fd = real === null ? null : openFile(real);
    if (fd === null) return null;
    try {
      return readUpTo(fd, READ_MAX_BYTES);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function statAtOrNull(path: RawPath): ReturnType<typeof statAt> {
  try {
    return statAt(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function stampOf(path: RawPath): string {
  const stats = statAtOrNull(path);
  return stats === null ? '' : `${stats.ino}:${stats.ctimeMs}:${stats.size}`;
}
