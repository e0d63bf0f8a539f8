import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { findProtected, type ProtectedEntry } from './protected-paths.ts';

/**
 * Mounts protect what exists; a protected name that does not exist yet can be made. So the names are listed before a
 * run and again after it, and what appeared is renamed to `<name>.quarantined-<id>` beside itself: one rename of the
 * last component, atomic, on the same file system, safe for a root daemon in a directory that tools write. Nobody
 * loses work: renaming it back accepts it.
 *
 * Known gap, left to the next step: a `.git` made in the run (`git init`, `git clone`) stays, with the hooks and the
 * configuration it was given, and so do nested repositories. A protected name that a person makes on the host while
 * a run goes on is taken for the run's.
 */
export class Quarantine {
  readonly #logger: Logger;
  /** By workspace: what one run is found to have made, no run that overlaps it may call its own beginning. */
  readonly #watches = new Map<string, Set<Watch>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Call before the sandbox starts, with the entries it protects. */
  watch(workspace: string, commonGitDir: string | null, before: readonly ProtectedEntry[]): Watch {
    const watch: Watch = { workspace, commonGitDir, before: new Map(before.map((entry) => [entry.path, entry.link])) };
    const watches = this.#watches.get(workspace) ?? new Set();
    this.#watches.set(workspace, watches.add(watch));
    return watch;
  }

  /** Call when the sandbox is dead: quarantines what appeared and returns it, relative to the workspace, sorted. */
  finish(watch: Watch): string[] {
    this.forget(watch);
    const now = new Map(findProtected(watch.workspace, watch.commonGitDir).map((entry) => [entry.path, entry.link]));
    const appeared = [...now.keys()].filter((path) => hasAppeared(watch, now, path));
    for (const path of appeared) this.#disarm(watch, path);
    this.#restoreLinks(watch);
    return appeared.map((path) => relative(watch.workspace, path)).sort();
  }

  /** For a sandbox that never started. */
  forget(watch: Watch): void {
    const watches = this.#watches.get(watch.workspace);
    watches?.delete(watch);
    if (watches?.size === 0) this.#watches.delete(watch.workspace);
  }

  #disarm(watch: Watch, path: string): void {
    const moved = `${path}.quarantined-${randomBytes(4).toString('hex')}`;
    renameInPlace(path, moved);
    for (const other of this.#watches.get(watch.workspace) ?? []) other.before.delete(path);
    this.#logger.warn('sandbox.quarantined', { workspace: watch.workspace, path, moved });
  }

  #restoreLinks(watch: Watch): void {
    for (const [path, link] of watch.before) {
      if (link !== null && lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(link, path);
    }
  }
}

/** A run that goes on: what was there when it began, with the text of links. */
export interface Watch {
  readonly workspace: string;
  readonly commonGitDir: string | null;
  readonly before: Map<string, string | null>;
}

/** New, or a link where another link or no link was. What lies in a `.git` made in the run is the gap named above. */
function hasAppeared(watch: Watch, now: ReadonlyMap<string, string | null>, path: string): boolean {
  const gitDir = join(watch.workspace, '.git');
  if (path === gitDir && !watch.before.has(path)) return false;
  if (path.startsWith(gitDir + sep) && !watch.before.has(gitDir)) return false;
  if (!watch.before.has(path)) return !isNewWorktree(path);
  return watch.before.get(path) !== null && watch.before.get(path) !== now.get(path);
}

/** `git worktree add` makes a `commondir` that leads to the repository it lies in; any other content is quarantined. */
function isNewWorktree(path: string): boolean {
  if (basename(path) !== 'commondir' || basename(dirname(dirname(path))) !== 'worktrees') return false;
  const stats = lstatSync(path);
  return stats.isFile() && stats.size <= 8 && readFileSync(path, 'utf8').trimEnd() === '../..';
}

/** Renames the last component only, its parents being real directories. Throws INTERNAL_ERROR rather than leave it armed. */
function renameInPlace(path: string, moved: string): void {
  const parent = dirname(path);
  try {
    if (realpathSync(parent) !== parent) throw new Error(`${parent} became a symbolic link`);
    try {
      renameSync(path, moved);
    } catch (cause) {
      if (!isErrno(cause, 'EACCES')) throw cause;
      chmodSync(parent, 0o700);
      renameSync(path, moved);
    }
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return;
    throw new ContextdError('INTERNAL_ERROR', `the command made ${path}, and it could not be moved away`, {
      remedy: `Look at ${path} and remove it before using the workspace.`,
      cause,
    });
  }
}
