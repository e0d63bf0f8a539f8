import { accessSync, constants } from 'node:fs';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { exactStatAt, identityOf, linkStateAt, statAt } from './file-access.ts';
import { MOUNTED_GIT_DANGERS, PROTECTED_NAMES } from './protected-names.ts';
import type { LinkState } from './protection.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { isNameable, isWithin, nameOf, parentOf, parentsBetween, type RawPath, toSystem, toText } from './raw-path.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Paths that must be mounted: those of the root and of every repository. */
const REQUIRED_MAX = 400;
/** Protected names below the root that are mounted. Each takes about 0.05 ms if no sandbox is ready. */
const NESTED_MAX = 64;
const HIDDEN_MAX = 1000;

/** A protected path as it is now. */
export interface Found {
  readonly path: RawPath;
  readonly identity: string;
  /** `pinned`: a git directory, which stays writable but must not be renamed. */
  readonly kind: 'read-only' | 'pinned' | 'link';
  /** Whether the directories above it must not be renamed either. */
  readonly holdsParents: boolean;
  readonly link: LinkState | null;
  /** Whether it is the file `config` of a git directory. */
  readonly isGitConfig: boolean;
}

export interface FoundHidden {
  readonly path: RawPath;
  readonly identity: string;
  readonly kind: 'file' | 'dir';
  /** Whether the directories above it must not be renamed: the pattern might not match at another place. */
  readonly holdsParents: boolean;
}

/** A place where a protected path may be; the disk was not read. */
interface Candidate {
  readonly path: RawPath;
  readonly isRequired: boolean;
}

/** Candidates between two pauses: an ordinary project has fewer. */
const CANDIDATES_PER_PAUSE = 1024;

/** Finds the protected and hidden paths that exist now, at the places that the index knows: a fixed number of lstats, no walk. */
export class Survey {
  readonly #index: WorkspaceIndex;
  readonly #ledger: Pick<QuarantineLedger, 'accepts'>;
  #candidates: readonly Candidate[] = [];
  #hidden: readonly RawPath[] = [];
  #version = -1;

  readonly #pause: () => void;

  constructor(index: WorkspaceIndex, ledger: Pick<QuarantineLedger, 'accepts'>, pause: () => void) {
    this.#index = index;
    this.#ledger = ledger;
    this.#pause = pause;
  }

  /** Throws SANDBOX_UNAVAILABLE if more than 400 must be mounted, or if a tool could enter a directory that contextd cannot. */
  findProtected(): Found[] {
    this.#refresh();
    const found: Found[] = [];
    let required = 0;
    for (const [position, { path, isRequired }] of this.#candidates.entries()) {
      if (position % CANDIDATES_PER_PAUSE === CANDIDATES_PER_PAUSE - 1) this.#pause();
      const one = this.#lookAt(path, isRequired);
      if (one === null) continue;
      found.push(one);
      if (isRequired && ++required > REQUIRED_MAX) throw tooMuch(this.#index.roots[0] ?? '');
    }
    return found;
  }

  /** Known matches of the deny globs, except those inside a hidden directory. `vanished`: a match is gone or was moved. */
  findHidden(): { hidden: FoundHidden[]; vanished: boolean } {
    this.#refresh();
    if (this.#hidden.length > HIDDEN_MAX) throw tooManyHidden(this.#index.roots[0] ?? '', this.#hidden.length);
    const hidden = this.#hidden.flatMap((path) => this.#lookAtHidden(path) ?? []);
    return { hidden, vanished: hidden.length < this.#hidden.length };
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
    if (this.#isAccepted(path)) return null;
    const root = this.#index.rootOf(path);
    const stats = statUnlessForeign(root, path);
    if (stats === null || isBehindLink(path) || this.#isOrdinaryInfo(path, stats)) return null;
    if (!isNameable(path)) return this.#lookAtNamed(root, path);
    const isPinned = stats.isDirectory() && this.#isGitDir(path);
    if (isPinned && path === root) return null;
    return {
      path,
      identity: identityOf(stats),
      kind: stats.isSymbolicLink() ? 'link' : isPinned ? 'pinned' : 'read-only',
      holdsParents: isRequired,
      link: stats.isSymbolicLink() ? linkStateAt(path) : null,
      isGitConfig: stats.isFile() && nameOf(path) === 'config' && this.#isGitDir(parentOf(path)),
    };
  }

  /**
   * Calls may make the content that a person accepted, so they may also remove it: `git checkout` does both. The search after
   * a call compares the content with what was accepted.
   */
  #isAccepted(path: RawPath): boolean {
    const kind = this.#index.dangers.get(path)?.kind;
    return (kind === 'name' || kind === 'target') && this.#ledger.accepts(path);
  }

  /** A mount cannot name a path that is not UTF-8. In a git directory the nearest directory with a UTF-8 path is read-only instead. */
  #lookAtNamed(root: RawPath, path: RawPath): Found | null {
    const above = parentsBetween(root, path);
    const named = above[above.findLastIndex(isNameable)];
    if (named === undefined || !above.some((parent) => nameOf(parent) === '.git' && isWithin(parent, parentOf(named))))
      return null;
    const stats = statUnlessForeign(root, named);
    if (stats?.isDirectory() !== true) return null;
    return {
      path: named,
      identity: identityOf(stats),
      kind: 'read-only',
      holdsParents: true,
      link: null,
      isGitConfig: false,
    };
  }

  /** `info` is a directory in which git writes. It is dangerous only as a link. */
  #isOrdinaryInfo(path: RawPath, stats: { isSymbolicLink(): boolean }): boolean {
    return nameOf(path) === 'info' && this.#isGitDir(parentOf(path)) && !stats.isSymbolicLink();
  }

  #isGitDir(path: RawPath): boolean {
    return path.endsWith('/.git') || this.#index.isGitDir(path);
  }

  #lookAtHidden(path: RawPath): FoundHidden | null {
    const stats = statUnlessForeign(this.#index.rootOf(path), path);
    if (stats === null || stats.isSymbolicLink()) {
      this.#index.unhide(path);
      return null;
    }
    const kind = stats.isDirectory() ? 'dir' : 'file';
    return { path, identity: identityOf(stats), kind, holdsParents: this.#index.hidden.get(path) === 'path' };
  }
}

/** `.git/info` may be a link, which is judged itself. No mount can name a path behind it. */
function isBehindLink(path: RawPath): boolean {
  return nameOf(parentOf(path)) === 'info' && statAt(parentOf(path))?.isSymbolicLink() === true;
}

/** The names of the root and of every git directory; then nested names, shallow ones first, without those of installed packages. */
function listCandidates(index: WorkspaceIndex): Candidate[] {
  const [workspace = '', ...others] = index.roots;
  const rootGit = `${workspace}/.git`;
  // What runs made is searched after each run, like what a run makes: a mount would keep `git worktree remove` from it.
  const nestedGit = [...index.gitDirs].filter((path) => !index.isMadeByRuns(path));
  const gitDirs = new Set([rootGit, ...others, ...nestedGit.sort(byDepth)]);
  const required = new Set([
    ...PROTECTED_NAMES.map((name) => `${workspace}/${name}`),
    ...[...gitDirs].flatMap((gitDir) => [gitDir, ...MOUNTED_GIT_DANGERS.map((name) => `${gitDir}/${name}`)]),
    ...[...index.dangers].flatMap(([path, { kind }]) =>
      kind === 'pointer' && !index.isMadeByRuns(path) ? [path] : [],
    ),
    ...index.targets,
  ]);
  const nested = [...index.dangers].flatMap(([path, { kind, madeAtMs }]) =>
    (kind === 'name' || kind === 'target') && madeAtMs === undefined && !required.has(path) && !isInstalled(path)
      ? [path]
      : [],
  );
  return [
    ...[...required].map((path) => ({ path, isRequired: true })),
    ...nested
      .sort(byDepth)
      .slice(0, NESTED_MAX)
      .map((path) => ({ path, isRequired: false })),
  ];
}

/** A mount would keep `npm ci` from removing the packages. The search after the run finds changes. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/');
}

function byDepth(a: RawPath, b: RawPath): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1);
}

/** lstat; null also if the path is behind a closed directory of another user, which tools cannot enter either. */
function statUnlessForeign(root: RawPath, path: RawPath): ReturnType<typeof exactStatAt> {
  try {
    return exactStatAt(path);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES')) throw cause;
    const closed = [root, ...parentsBetween(root, path)].find(
      (parent) => isWithin(root, parent) && !isSearchable(parent),
    );
    if (closed !== undefined && statAt(closed)?.uid !== process.getuid?.()) return null;
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

function tooMuch(workspace: RawPath): ContextdError {
  return new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `${toText(workspace)} cannot be protected: it holds more than ${REQUIRED_MAX} protected paths`,
    { remedy: 'Register fewer repositories as one project, or remove modules that are not needed below .git/modules.' },
  );
}

function tooManyHidden(workspace: RawPath, count: number): ContextdError {
  return new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `the deny globs match ${count} paths in ${toText(workspace)}; ${HIDDEN_MAX} can be hidden`,
    { remedy: 'In `sandbox.deny`, name the directories that hold them.' },
  );
}
