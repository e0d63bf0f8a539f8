import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import { isWithin } from '../../core/paths.ts';
import { isRealDirectory } from '../../fs/directory-identity.ts';
import { compileGlobs } from '../../fs/glob.ts';
import { nameOf, parentOf, toRaw, toText } from '../../fs/raw-path.ts';
import { TreeSearch } from '../../fs/tree-search.ts';
import type { EnclosingRepository } from '../../guard/client/guard-set.ts';
import { gitDirOf } from '../../guard/git/git-dir.ts';

/** Top of the repository that contains a directory. Null if it has its own repository, or is in no repository. */
export function repositoryAbove(workspace: string): string | null {
  if (lstatSync(`${workspace}/.git`, { throwIfNoEntry: false }) !== undefined) return null;
  const gitDir = gitDirOf(toRaw(workspace));
  return gitDir === null || nameOf(gitDir) !== '.git' ? null : toText(parentOf(gitDir));
}

/**
 * Why the repository at `top` cannot be mounted around a workspace; null if it can. Its git directory must be next to
 * its files, and everything must have one owner, because commands write it as the owner of the workspace.
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
  /** Keyed by repository, workspace and globs. */
  readonly #searches = new Map<string, TreeSearch>();

  /** `deny`: globs, relative to the top of the repository here. */
  open(workspace: string, top: string, deny: readonly string[]): EnclosingRepository {
    return { top, gitDir: `${top}/.git`, hidden: () => this.#search(workspace, top, deny)?.find([top]) ?? [] };
  }

  #search(workspace: string, top: string, deny: readonly string[]): TreeSearch | null {
    const globs = compileGlobs(deny);
    if (globs.isEmpty) return null;
    const key = JSON.stringify([top, workspace, deny]);
    const inside = relative(top, workspace);
    // The workspace's own guard hides paths inside it, and git needs its own directory.
    const isElsewhere = (path: string) => path !== inside && path !== '.git';
    const search =
      this.#searches.get(key) ??
      new TreeSearch({
        enters: isElsewhere,
        finds: (path, _name, kind) =>
          !isWithin(path, inside) && path !== '.git' && globs.match(path, kind === 'dir') !== null,
      });
    this.#searches.set(key, search);
    return search;
  }
}
