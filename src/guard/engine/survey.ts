import { accessSync, type BigIntStats, constants } from 'node:fs';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { LinkState } from '../../fs/file-access.ts';
import { exactStatAt, identityOf, linkStateAt, statAt } from '../../fs/file-access.ts';
import {
  isNameable,
  isWithin,
  nameOf,
  parentOf,
  parentsBetween,
  type RawPath,
  toSystem,
  toText,
} from '../../fs/raw-path.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import type { QuarantineLedger } from '../quarantine/ledger.ts';
import { type Candidates, compareAge, isOfPerson, listCandidates } from './candidates.ts';
import { MOUNT_ARGUMENTS, MountBudget } from './mount-budget.ts';

const CONFIG_NAMES: ReadonlySet<string> = new Set(['config', 'config.worktree']);
/**
 * Budget of bubblewrap arguments for mounts of nested repositories, and of hidden paths. bubblewrap's time to build a
 * sandbox is quadratic in them: a second for about 600 mounts. Beyond the budget the oldest paths win, because calls
 * can only create paths younger than the person's.
 */
const REPOSITORIES_MAX_ARGUMENTS = 900;
const HIDDEN_MAX_ARGUMENTS = 1_800;
/** Current state of a protected path. */
export interface Found {
  readonly path: RawPath;
  readonly identity: string;
  /** Nanoseconds since the epoch; 0 if the file system does not store it. Cannot be set from inside a sandbox. */
  readonly bornNs: bigint;
  /** `pinned`: a git directory, which stays writable but must not be renamed. */
  readonly kind: 'read-only' | 'pinned' | 'link';
  /** Whether its parent directories must not be renamed either. */
  readonly holdsParents: boolean;
  readonly link: LinkState | null;
  /** Whether it is a configuration of a git directory. */
  readonly isGitConfig: boolean;
}

export interface FoundHidden {
  readonly path: RawPath;
  readonly identity: string;
  /** As for `Found`. */
  readonly bornNs: bigint;
  readonly kind: 'file' | 'dir';
  /** Whether its parent directories must not be renamed: the glob might not match at the new path. */
  readonly holdsParents: boolean;
}

/** Candidates between two calls of `pause`; an ordinary project has fewer. */
const CANDIDATES_PER_PAUSE = 1024;

/**
 * Finds the protected and hidden paths that exist now, at locations known to the index: a fixed number of lstats, no
 * walk. Never fails because of the number of paths, since a call could create them: see `MountBudget` for what is left out.
 */
export class Survey {
  readonly #index: WorkspaceIndex;
  readonly #ledger: Pick<QuarantineLedger, 'accepts'>;
  #candidates: Candidates = { fixed: [], repositories: [], names: [] };
  #hidden: readonly RawPath[] = [];
  #version = -1;
  #looks = 0;

  readonly #pause: () => void;

  constructor(index: WorkspaceIndex, ledger: Pick<QuarantineLedger, 'accepts'>, pause: () => void) {
    this.#index = index;
    this.#ledger = ledger;
    this.#pause = pause;
  }

  /** Throws SANDBOX_UNAVAILABLE if contextd cannot read the workspace itself but a tool could make it readable. */
  findProtected(): Found[] {
    this.#refresh();
    const { fixed, repositories, names } = this.#candidates;
    return [
      ...fixed.flatMap((path) => this.#lookAt(path, true) ?? []),
      ...this.#findRepositories(repositories),
      ...names.flatMap((path) => this.#lookAt(path, false) ?? []),
    ];
  }

  /** Repositories beyond the budget are searched after each call, like repositories that calls create. */
  #findRepositories(repositories: Candidates['repositories']): Found[] {
    const groups = repositories.map((parts) => parts.flatMap((path) => this.#lookAt(path, true) ?? []));
    const budget = new MountBudget(REPOSITORIES_MAX_ARGUMENTS, (path) => this.#index.rootOf(path));
    const costs = (found: readonly Found[]) =>
      found.map(({ path }) => ({ path, own: MOUNT_ARGUMENTS.mounted, holdsParents: true }));
    if (budget.takes(groups.flatMap(costs))) return groups.flat();
    const ageOf = (found: readonly Found[]) => found[0]?.bornNs ?? 0n;
    return groups
      .sort((a, b) => compareAge(ageOf(a), ageOf(b)))
      .flatMap((found) => (budget.takes(costs(found)) ? found : []));
  }

  /**
   * Known matches of the deny globs, except inside hidden directories. `vanished`: a match is gone or was moved. Beyond
   * the budget, whole parent directories of the youngest matches are hidden; a match at the root of the tree has no
   * such parent and stays visible.
   */
  findHidden(): { hidden: FoundHidden[]; vanished: boolean } {
    this.#refresh();
    const hidden = this.#hidden.flatMap((path) => this.#lookAtHidden(path) ?? []);
    return { hidden: this.#affordable(hidden), vanished: hidden.length < this.#hidden.length };
  }

  #affordable(hidden: readonly FoundHidden[]): FoundHidden[] {
    const rootOf = (path: RawPath) => this.#index.rootOf(path);
    const cost = ({ path, kind, holdsParents }: FoundHidden) => ({ path, own: MOUNT_ARGUMENTS[kind], holdsParents });
    const budget = new MountBudget(HIDDEN_MAX_ARGUMENTS, rootOf);
    if (budget.takes(hidden.map(cost))) return [...hidden];
    const oldest = [...hidden].sort((a, b) => compareAge(a.bornNs, b.bornNs));
    const parents = new Map<RawPath, FoundHidden>();
    const taken: FoundHidden[] = [];
    for (const one of oldest) {
      if (parents.size === 0 && budget.takes([cost(one)])) taken.push(one);
      else addParent(parents, one, rootOf(one.path));
    }
    const spare = new MountBudget(HIDDEN_MAX_ARGUMENTS / 5, rootOf);
    return [...taken, ...[...parents.values()].filter((parent) => spare.takes([cost(parent)]))];
  }

  #refresh(): void {
    if (this.#version === this.#index.version) return;
    this.#version = this.#index.version;
    this.#candidates = listCandidates(this.#index);
    this.#hidden = [...this.#index.hidden.keys()].filter(
      (path) => !parentsBetween(this.#index.rootOf(path), path).some((parent) => this.#index.hidden.has(parent)),
    );
  }

  #lookAt(path: RawPath, isRequired: boolean): Found | null {
    if (++this.#looks % CANDIDATES_PER_PAUSE === 0) this.#pause();
    if (this.#isAccepted(path)) return null;
    const root = this.#index.rootOf(path);
    const look = lookUnlessForeign(root, path);
    if (look?.isClosedDir === true) return readOnlyDirectory(look);
    const stats = look?.stats ?? null;
    if (stats === null || isBehindLink(path) || this.#isOrdinaryInfo(path, stats)) return null;
    if (!isNameable(path)) return this.#lookAtNamed(root, path);
    const isPinned = stats.isDirectory() && this.#isGitDir(path);
    if (isPinned && path === root) return null;
    return {
      path,
      identity: identityOf(stats),
      bornNs: stats.birthtimeNs,
      kind: stats.isSymbolicLink() ? 'link' : isPinned ? 'pinned' : 'read-only',
      holdsParents: isRequired,
      link: stats.isSymbolicLink() ? linkStateAt(path) : null,
      isGitConfig: stats.isFile() && CONFIG_NAMES.has(nameOf(path)) && this.#isGitDir(parentOf(path)),
    };
  }

  /**
   * Calls may create content that a person accepted, so they may remove it too: `git checkout` does both. The search
   * after a call compares the content with the accepted one.
   */
  #isAccepted(path: RawPath): boolean {
    const known = this.#index.dangers.get(path);
    return known !== undefined && isOfPerson(known) && this.#ledger.accepts(path);
  }

  /** A mount cannot name a path that is not UTF-8. In a git directory its nearest UTF-8 parent is read-only instead. */
  #lookAtNamed(root: RawPath, path: RawPath): Found | null {
    const above = parentsBetween(root, path);
    const named = above[above.findLastIndex(isNameable)];
    if (named === undefined || !above.some((parent) => nameOf(parent) === '.git' && isWithin(parent, parentOf(named))))
      return null;
    const look = lookUnlessForeign(root, named);
    return look?.stats.isDirectory() === true ? readOnlyDirectory(look) : null;
  }

  /** `info` is a directory in which git writes. It is dangerous only as a link. */
  #isOrdinaryInfo(path: RawPath, stats: { isSymbolicLink(): boolean }): boolean {
    return nameOf(path) === 'info' && this.#isGitDir(parentOf(path)) && !stats.isSymbolicLink();
  }

  #isGitDir(path: RawPath): boolean {
    return path.endsWith('/.git') || this.#index.isGitDir(path);
  }

  #lookAtHidden(path: RawPath): FoundHidden | null {
    const look = lookUnlessForeign(this.#index.rootOf(path), path);
    if (look === null || look.stats.isSymbolicLink()) {
      this.#index.unhide(path);
      return null;
    }
    const { stats } = look;
    return {
      path: look.path,
      identity: identityOf(stats),
      bornNs: stats.birthtimeNs,
      kind: stats.isDirectory() ? 'dir' : 'file',
      holdsParents: this.#index.hidden.get(path) === 'path',
    };
  }
}

/** Hides the parent directory of a match. Does nothing for a match at the root. */
function addParent(parents: Map<RawPath, FoundHidden>, { path, holdsParents }: FoundHidden, root: RawPath): void {
  const parent = parentOf(path);
  const stats = parent === root || parents.has(parent) ? null : exactStatAt(parent);
  if (stats?.isDirectory() !== true) return;
  parents.set(parent, {
    path: parent,
    identity: identityOf(stats),
    bornNs: stats.birthtimeNs,
    kind: 'dir',
    holdsParents,
  });
}

function readOnlyDirectory({ path, stats }: Look): Found {
  return {
    path,
    identity: identityOf(stats),
    bornNs: stats.birthtimeNs,
    kind: 'read-only',
    holdsParents: true,
    link: null,
    isGitConfig: false,
  };
}

/** `.git/info` may be a link, which is judged itself. A mount cannot name a path behind it. */
function isBehindLink(path: RawPath): boolean {
  return nameOf(parentOf(path)) === 'info' && statAt(parentOf(path))?.isSymbolicLink() === true;
}

/** An existing path. `isClosedDir`: it is a directory on the way that contextd cannot enter but tools could open. */
interface Look {
  readonly path: RawPath;
  readonly stats: BigIntStats;
  readonly isClosedDir: boolean;
}

/**
 * Null if the path does not exist, or is behind another user's closed directory, which tools cannot open. Throws
 * SANDBOX_UNAVAILABLE if the root itself is closed.
 */
function lookUnlessForeign(root: RawPath, path: RawPath): Look | null {
  try {
    const stats = exactStatAt(path);
    return stats === null ? null : { path, stats, isClosedDir: false };
  } catch (cause) {
    if (!isErrno(cause, 'EACCES')) throw cause;
    const closed = [root, ...parentsBetween(root, path)].find(
      (parent) => isWithin(root, parent) && !isSearchable(parent),
    );
    const stats = closed === undefined ? null : exactStatAt(closed);
    if (closed !== undefined && Number(stats?.uid) !== process.getuid?.()) return null;
    if (closed !== undefined && closed !== root && stats !== null) return { path: closed, stats, isClosedDir: true };
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${toText(path)} cannot be read`, {
      remedy: `Give yourself the permission back: chmod u+rwx ${toText(closed ?? root)}.`,
      cause,
    });
  }
}

function isSearchable(path: RawPath): boolean {
  try {
    accessSync(toSystem(path), constants.X_OK);
    return true;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}
