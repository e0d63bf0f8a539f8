import { accessSync, constants } from 'node:fs';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { exactStatAt, identityOf, statAt } from './inode.ts';
import { linkStateAt } from './links.ts';
import { MOUNTED_GIT_DANGERS, PROTECTED_NAMES } from './protected-names.ts';
import type { LinkState } from './protection.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { isNameable, isWithin, nameOf, parentOf, parentsBetween, type RawPath, toSystem, toText } from './raw-path.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Entries that must be mounted: those of the root and of every repository. */
const REQUIRED_MAX = 400;
/** Protected names below the root that are mounted, about 0.05 ms each where no sandbox is ready. */
const NESTED_MAX = 64;
const HIDDEN_MAX = 1000;

/** A protected path as it is at this moment. */
export interface Found {
  readonly path: RawPath;
  readonly identity: string;
  /** `pinned`: a git directory, which stays writable and may not be renamed. */
  readonly kind: 'read-only' | 'pinned' | 'link';
  /** Whether the directories above it may not be renamed either. */
  readonly holdsParents: boolean;
  readonly link: LinkState | null;
}

export interface FoundHidden {
  readonly path: RawPath;
  readonly identity: string;
  readonly kind: 'file' | 'dir';
  /** Elsewhere the pattern might not match it. */
  readonly holdsParents: boolean;
}

/** Where something protected can be, found without looking at the disk. */
interface Candidate {
  readonly path: RawPath;
  readonly isRequired: boolean;
}

/** Looks at the places where something protected or hidden is known or can be: a fixed number of lstats, no walk. */
export class Survey {
  readonly #index: WorkspaceIndex;
  readonly #ledger: Pick<QuarantineLedger, 'accepts'>;
  #candidates: readonly Candidate[] = [];
  #hidden: readonly RawPath[] = [];
  #version = -1;

  constructor(index: WorkspaceIndex, ledger: Pick<QuarantineLedger, 'accepts'>) {
    this.#index = index;
    this.#ledger = ledger;
  }

  /** Throws SANDBOX_UNAVAILABLE past 400 that must be mounted, and where a tool could look and contextd cannot. */
  findProtected(): Found[] {
    this.#refresh();
    const found: Found[] = [];
    let required = 0;
    for (const { path, isRequired } of this.#candidates) {
      const one = this.#lookAt(path, isRequired);
      if (one === null) continue;
      found.push(one);
      if (isRequired && ++required > REQUIRED_MAX) throw tooMuch(this.#index.roots[0] ?? '');
    }
    return found;
  }

  /** Known matches of the deny globs, those inside a hidden directory left out. `vanished`: one has gone or moved. */
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
    };
  }

  /**
   * Calls may make the content that a person accepted, so they may also take it away: `git checkout` does both. The search
   * after a call compares what is there with what was accepted.
   */
  #isAccepted(path: RawPath): boolean {
    const kind = this.#index.dangers.get(path)?.kind;
    return (kind === 'name' || kind === 'target') && this.#ledger.accepts(path);
  }

  /** A mount cannot name what is no UTF-8, so in a git directory the nearest directory that it can name is read-only. */
  #lookAtNamed(root: RawPath, path: RawPath): Found | null {
    const above = parentsBetween(root, path);
    const named = above[above.findLastIndex(isNameable)];
    if (named === undefined || !above.some((parent) => nameOf(parent) === '.git' && isWithin(parent, parentOf(named))))
      return null;
    const stats = statUnlessForeign(root, named);
    if (stats?.isDirectory() !== true) return null;
    return { path: named, identity: identityOf(stats), kind: 'read-only', holdsParents: true, link: null };
  }

  /** A directory in which git writes; only as a link it is of interest. */
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

/** `.git/info` may be a link, which is looked at for itself; no mount can name what lies behind it. */
function isBehindLink(path: RawPath): boolean {
  return nameOf(parentOf(path)) === 'info' && statAt(parentOf(path))?.isSymbolicLink() === true;
}

/** The root's names and every git directory's; then nested names, shallow ones first, none that a package brought along. */
function listCandidates(index: WorkspaceIndex): Candidate[] {
  const [workspace = '', ...others] = index.roots;
  const rootGit = `${workspace}/.git`;
  const gitDirs = new Set([rootGit, ...others, ...[...index.gitDirs].sort(byDepth)]);
  const required = new Set([
    ...PROTECTED_NAMES.map((name) => `${workspace}/${name}`),
    ...[...gitDirs].flatMap((gitDir) => [gitDir, ...MOUNTED_GIT_DANGERS.map((name) => `${gitDir}/${name}`)]),
    ...[...index.dangers].flatMap(([path, { kind }]) => (kind === 'pointer' ? [path] : [])),
    ...index.targets,
  ]);
  const nested = [...index.dangers].flatMap(([path, { kind }]) =>
    (kind === 'name' || kind === 'target') && !required.has(path) && !isInstalled(path) ? [path] : [],
  );
  return [
    ...[...required].map((path) => ({ path, isRequired: true })),
    ...nested
      .sort(byDepth)
      .slice(0, NESTED_MAX)
      .map((path) => ({ path, isRequired: false })),
  ];
}

/** Mounted over, it would keep `npm ci` from removing the packages; its changes are found afterwards. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/');
}

function byDepth(a: RawPath, b: RawPath): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1);
}

/** lstat; null also where a closed directory of another user is in the way: tools cannot pass it either. */
function statUnlessForeign(root: RawPath, path: RawPath): ReturnType<typeof exactStatAt> {
  try {
    return exactStatAt(path);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES')) throw cause;
    const closed = [root, ...parentsBetween(root, path)].find(
      (parent) => isWithin(root, parent) && !isSearchable(parent),
    );
    if (closed !== undefined && statAt(closed)?.uid !== process.getuid?.()) return null;
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${toText(path)} cannot be looked at`, {
      remedy: `Give yourself back the permission: chmod u+rwx ${toText(closed ?? root)}.`,
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
    { remedy: 'Register fewer repositories as one project, or remove what is not needed below .git/modules.' },
  );
}

function tooManyHidden(workspace: RawPath, count: number): ContextdError {
  return new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `the deny globs match ${count} paths in ${toText(workspace)}; ${HIDDEN_MAX} can be hidden`,
    { remedy: 'In `sandbox.deny`, name the directories that hold them.' },
  );
}
