import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Mount } from './policy.ts';

/** Names at the workspace's root that make a program on the host run something or trust something (design §5). */
export const PROTECTED_NAMES = [
  '.claude',
  '.mcp.json',
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.agents',
  '.husky',
  '.vscode',
  '.idea',
  '.envrc',
  'contextd.lock',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.inputrc',
] as const;

/** In a git directory. `commondir` and `config.worktree` would lead git on the host to another configuration. */
const GIT_PROTECTED = ['hooks', 'config', 'config.worktree', 'commondir', 'info/attributes'] as const;
const MODULE_PROTECTED = ['hooks', 'config'] as const;
const WORKTREE_PROTECTED = ['commondir', 'config.worktree'] as const;

/** Submodules may be nested and named with slashes; deeper than this they are refused rather than left open. */
const MODULE_DEPTH_MAX = 8;
const ENTRIES_MAX = 400;

/** One protected path that exists. `root`: the writable tree it lies in; ancestors below it are pinned. */
export interface ProtectedEntry {
  readonly path: string;
  readonly root: string;
  /** Text of the link, when the path is a symbolic link: it cannot be mounted over, only checked afterwards. */
  readonly link: string | null;
}

/**
 * Every protected path that exists in the workspace and in a worktree's common git directory. Throws
 * SANDBOX_UNAVAILABLE past 400 of them, past 8 levels of submodules, and where a directory cannot be looked into:
 * a tool could close it for the search and open it again afterwards.
 */
export function findProtected(workspace: string, commonGitDir: string | null): ProtectedEntry[] {
  try {
    return searchProtected(workspace, commonGitDir);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause;
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${cause.path ?? workspace} cannot be looked into`, {
      remedy: `Give yourself back the permission: chmod -R u+rwX ${join(workspace, '.git')}.`,
      cause,
    });
  }
}

function searchProtected(workspace: string, commonGitDir: string | null): ProtectedEntry[] {
  const found = existing(
    workspace,
    ['.git', ...PROTECTED_NAMES].map((name) => join(workspace, name)),
  );
  const gitDir = join(workspace, '.git');
  if (isDirectory(gitDir)) found.push(...inGitDir(gitDir, workspace));
  if (commonGitDir !== null) found.push(...inGitDir(commonGitDir, commonGitDir));
  if (found.length > ENTRIES_MAX) throw tooMany(workspace, `it holds more than ${ENTRIES_MAX} protected paths`);
  return found;
}

function inGitDir(gitDir: string, root: string): ProtectedEntry[] {
  return [
    ...existing(
      root,
      GIT_PROTECTED.map((name) => join(gitDir, name)),
    ),
    ...findModules(join(gitDir, 'modules'), root, MODULE_DEPTH_MAX),
    ...subdirectories(join(gitDir, 'worktrees')).flatMap((worktree) =>
      existing(
        root,
        WORKTREE_PROTECTED.map((name) => join(worktree, name)),
      ),
    ),
  ];
}

/** A module is a directory with HEAD in it; one without may be a part of a name with slashes. */
function findModules(dir: string, root: string, depthLeft: number): ProtectedEntry[] {
  return subdirectories(dir).flatMap((module) => {
    if (depthLeft === 0)
      throw tooMany(root, `${relative(root, module)} lies deeper than ${MODULE_DEPTH_MAX} submodules`);
    const own = existing(
      root,
      MODULE_PROTECTED.map((name) => join(module, name)),
    );
    const isModule = lstatOrNull(join(module, 'HEAD')) !== null;
    return [...own, ...findModules(isModule ? join(module, 'modules') : module, root, depthLeft - 1)];
  });
}

function existing(root: string, paths: readonly string[]): ProtectedEntry[] {
  return paths.flatMap((path) => {
    const stats = lstatOrNull(path);
    if (stats === null) return [];
    return [{ path, root, link: stats.isSymbolicLink() ? readlinkSync(path) : null }];
  });
}

/**
 * Mounts that make the entries read-only. A read-only child does not stop its parent from being renamed, so every
 * directory between the root and an entry is mounted over itself first. `.git` as a directory stays writable.
 */
export function protectedMounts(entries: readonly ProtectedEntry[], workspace: string): Mount[] {
  const mounts = new Map<string, Mount>();
  for (const entry of entries) {
    const path = entry.link === null ? entry.path : targetInside(entry);
    if (path === null) continue;
    for (const parent of parentsBelow(entry.root, path)) addOnce(mounts, 'bind', parent);
    const writable = path === join(workspace, '.git') && isDirectory(path);
    addOnce(mounts, writable ? 'bind' : 'ro-bind', path);
  }
  return [...mounts.values()];
}

function addOnce(mounts: Map<string, Mount>, kind: 'bind' | 'ro-bind', path: string): void {
  if (!mounts.has(path)) mounts.set(path, { kind, source: path, dest: path, pin: true });
}

/** Where a link leads, when that is inside the same tree: outside of it nothing is mounted, so nothing is reached. */
function targetInside(entry: ProtectedEntry): string | null {
  try {
    const target = realpathSync(entry.path);
    return target.startsWith(entry.root + sep) ? target : null;
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function parentsBelow(root: string, path: string): string[] {
  const parents: string[] = [];
  for (let parent = dirname(path); parent.length > root.length; parent = dirname(parent)) parents.unshift(parent);
  return parents;
}

function subdirectories(dir: string): string[] {
  if (!isDirectory(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(dir, entry.name)] : [],
  );
}

function isDirectory(path: string): boolean {
  return lstatOrNull(path)?.isDirectory() ?? false;
}

function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function tooMany(workspace: string, why: string): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', `${workspace} cannot be protected: ${why}`, {
    remedy: `Remove what is not needed below ${join(basename(workspace), '.git', 'modules')}.`,
  });
}
