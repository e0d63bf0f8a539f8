import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import { isRealDirectory } from './directory-identity.ts';
import { TreeSearch } from './tree-search.ts';
import { gitDirOf } from './workspace/git-dir.ts';
import { compileGlobs } from './workspace/glob.ts';
import type { EnclosingRepository } from './workspace/guard-set.ts';
import { nameOf, parentOf, toRaw, toText } from './workspace/raw-path.ts';

/** The top of the repository of which a directory is only a part; null if it has a repository of its own or is in none. */
export function repositoryAbove(workspace: string): string | null {
  if (lstatSync(`${workspace}/.git`, { throwIfNoEntry: false }) !== undefined) return null;
  const gitDir = gitDirOf(toRaw(workspace));
  return gitDir === null || nameOf(gitDir) !== '.git' ? null : toText(parentOf(gitDir));
}

/**
 * Why the repository at `top` cannot be mounted around a workspace; null if it can. Its git directory must be a directory
 * beside its files, and everything must have one owner: commands write it as the owner of the workspace.
 */
export function whyNotMounted(workspace: string, top: string): string | null {
  if (repositoryAbove(workspace) !== top) return `it is not the top of the repository around ${workspace}`;
  const gitDir = `${top}/.git`;
  if (!isRealDirectory(top) || !isRealDirectory(gitDir)) return `${gitDir} is not a directory`;
  const [owner, ...others] = [workspace, top, gitDir].map((path) => lstatSync(path).uid);
  if (others.some((uid) => uid !== owner)) return `${top}, its .git and ${workspace} belong to different users`;
  return null;
}

/** Prepares the repositories around workspaces. */
export class RepositoriesAbove {
  /** By repository, workspace and globs. */
  readonly #searches = new Map<string, TreeSearch>();

  /** `deny`: globs, which count from the top of the repository here. */
  open(workspace: string, top: string, deny: readonly string[]): EnclosingRepository {
    return { top, gitDir: `${top}/.git`, hidden: () => this.#search(workspace, top, deny)?.find([top]) ?? [] };
  }

  #search(workspace: string, top: string, deny: readonly string[]): TreeSearch | null {
    const globs = compileGlobs(deny);
    if (globs.isEmpty) return null;
    const key = JSON.stringify([top, workspace, deny]);
    const inside = relative(top, workspace);
    // The guard of the workspace hides what is in it, and git needs its own directory.
    const isElsewhere = (path: string) => path !== inside && path !== '.git';
    const search =
      this.#searches.get(key) ??
      new TreeSearch({
        enters: isElsewhere,
        finds: (path, _name, kind) =>
          !`${inside}/`.startsWith(`${path}/`) && path !== '.git' && globs.match(path, kind === 'dir') !== null,
      });
    this.#searches.set(key, search);
    return search;
  }
}
