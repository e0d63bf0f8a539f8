import type { GlobMatch } from '../../fs/glob.ts';
import { below, isWithin, type RawPath } from '../../fs/raw-path.ts';
import { type DangerKind, GIT_DANGERS } from '../table/protected-names.ts';
import { DirectoryTable } from './directory-table.ts';

/** Directories that are remembered for one workspace, and bytes of their paths: about 40 MB of memory, at most 80. */
const DIRECTORIES_MAX = 200_000;
const PATHS_MAX_BYTES = 48 * 1024 * 1024;

/** A dangerous path that exists and was accepted. */
export interface KnownDanger {
  readonly kind: DangerKind;
  /** Of its inode; for a link, the link's own inode. */
  readonly identity: string;
  /** The newest ctime of it and of everything in it when it was accepted, in milliseconds. NaN if unknown. */
  readonly stamp: number;
  /** Text of a symbolic link. It cannot be changed without making another link. */
  readonly link: RawPath | null;
  /** For a file that leads git elsewhere: where it led. With another target it counts as another file. */
  readonly target?: RawPath | null;
  /** If a run made it and no person has changed it since: its newest ctime then. */
  readonly madeAtMs?: number | undefined;
  /** When the search saw it first, in milliseconds since the epoch; undefined if a person put it there. */
  readonly seenAtMs?: number | undefined;
  /** For a rebase todo list or a git configuration: the parts of it that may run programs. */
  readonly programs?: readonly string[];
  /** Whether a file of a `checked` name was harmless. If not, calls may not change it. */
  readonly isHarmless?: boolean;
}

/** The known directories of a workspace, and the protected and hidden paths in them. */
export class WorkspaceIndex {
  readonly directories = new DirectoryTable();
  readonly #roots: RawPath[];
  /** Git directories by their name or content. `#pointedAt` has those that a `.git` or a `commondir` leads to. */
  readonly #gitDirs = new Set<RawPath>();
  readonly #leads = new Map<RawPath, RawPath>();
  #pointedAt: ReadonlySet<RawPath> = new Set();
  readonly #newlyPointedAt: RawPath[] = [];
  readonly #unsearched = new Set<RawPath>();
  readonly #unread = new Set<RawPath>();
  #targets: ReadonlySet<RawPath> = new Set();
  #relativeTargets: ReadonlySet<string> = new Set();
  readonly #dangers = new Map<RawPath, KnownDanger>();
  #youngestMadeMs = 0;
  readonly #hidden = new Map<RawPath, GlobMatch>();
  #version = 0;
  #isWalked = true;
  /** Writable trees with guards of their own. */
  companions: readonly RawPath[] = [];
  /** contextd's own directories: sandboxes write some of what is in them, and none of it is searched. */
  ownDirectories: readonly RawPath[] = [];
  /** Places outside the trees that commands read and cannot write. */
  readOnlyPlaces: readonly RawPath[] = [];
  /** False during a first walk that follows a crash. Every directory is new to that walk, whether a run made it or not. */
  hasMemory = true;

  constructor(workspace: RawPath) {
    this.#roots = [workspace];
  }

  /** The writable trees: the workspace, and a worktree's common git directory. */
  get roots(): readonly RawPath[] {
    return this.#roots;
  }

  get gitDirs(): ReadonlySet<RawPath> {
    return new Set([...this.#gitDirs, ...this.#pointedAt]);
  }

  isGitDir(path: RawPath): boolean {
    return this.#gitDirs.has(path) || this.#pointedAt.has(path);
  }

  /** A repository at the root of a companion, which its guard judges. */
  isCompanionGitDir(path: RawPath): boolean {
    return this.companions.some((tree) => path === `${tree}/.git`);
  }

  /** Whether something leads git there, which makes it a git directory whatever it contains. */
  isPointedAt(path: RawPath): boolean {
    return this.#pointedAt.has(path);
  }

  /** The git directory that each `.git` file and `commondir` leads to. */
  get leads(): ReadonlyMap<RawPath, RawPath> {
    return this.#leads;
  }

  /** Paths in the workspace that the person's own git configuration and hooks run or read, whether they exist or not. */
  get targets(): ReadonlySet<RawPath> {
    return this.#targets;
  }

  /** When the youngest danger was made that a run may have made, and that is not mounted for this reason; 0: none. */
  get youngestMadeMs(): number {
    return this.#youngestMadeMs;
  }

  get dangers(): ReadonlyMap<RawPath, KnownDanger> {
    return this.#dangers;
  }

  get hidden(): ReadonlyMap<RawPath, GlobMatch> {
    return this.#hidden;
  }

  /** Changes whenever something protected or hidden is added or removed. */
  get version(): number {
    return this.#version;
  }

  /**
   * Whether runs made this git directory or `.git` file: everything in it that could run something is theirs. Never true
   * for the repository of a root.
   */
  isMadeByRuns(path: RawPath): boolean {
    if (this.#roots.some((root) => path === root || path === `${root}/.git`)) return false;
    const parts = [path, ...[...GIT_DANGERS.keys()].map((name) => `${path}/${name}`)];
    const known = parts.flatMap((part) => this.#dangers.get(part) ?? []);
    // A person's `git status` replaces the index.
    return known.length > 0 && known.every(({ kind, madeAtMs }) => kind === 'paths' || madeAtMs !== undefined);
  }

  /** False until the first walk has ended, and while a directory is too deep to be searched. */
  get isComplete(): boolean {
    return this.#isWalked && this.#unsearched.size === 0;
  }

  /** True if no further directory can be remembered. Directories that are not remembered are read again after every run. */
  get isFull(): boolean {
    return this.directories.size >= DIRECTORIES_MAX || this.directories.bytes >= PATHS_MAX_BYTES;
  }

  addRoot(root: RawPath): boolean {
    if (this.#roots.some((one) => isWithin(one, root))) return false;
    this.#roots.push(root);
    return true;
  }

  /** The writable tree around `path`. */
  rootOf(path: RawPath): RawPath {
    return this.#roots.find((root) => isWithin(root, path)) ?? '/';
  }

  /** Relative to the workspace; absolute outside it. */
  pathInProject(path: RawPath): RawPath {
    const [workspace = ''] = this.#roots;
    return isWithin(workspace, path) ? below(workspace, path) : path;
  }

  setWalked(isWalked: boolean): void {
    this.#isWalked = isWalked;
    if (isWalked) this.hasMemory = true;
  }

  /** Records whether a directory has subdirectories that were not searched. */
  setUnsearched(path: RawPath, isUnsearched: boolean): void {
    if (isUnsearched) this.#unsearched.add(path);
    else this.#unsearched.delete(path);
  }

  /** Records whether a root changed and is too large to be read before a sandbox starts. */
  setUnread(root: RawPath, isUnread: boolean): void {
    if (isUnread) this.#changed(!this.#unread.has(root), () => this.#unread.add(root));
    else this.#changed(this.#unread.has(root), () => this.#unread.delete(root));
  }

  isUnread(root: RawPath): boolean {
    return this.#unread.has(root);
  }

  /** `relative`: paths that are targets below every directory, because a worktree may be made there. */
  setTargets(targets: ReadonlySet<RawPath>, relative: ReadonlySet<string>): void {
    this.#changed(!isSame(targets, this.#targets), () => {
      this.#targets = targets;
    });
    this.#changed(!isSame(relative, this.#relativeTargets), () => {
      this.#relativeTargets = relative;
    });
  }

  /** Paths that are targets below every directory. */
  get relativeTargets(): ReadonlySet<string> {
    return this.#relativeTargets;
  }

  /** Whether the person's own git configuration or hooks would run or read this path. */
  isTarget(path: RawPath): boolean {
    if (this.#targets.has(path)) return true;
    for (const end of this.#relativeTargets) if (path.endsWith(`/${end}`)) return !path.includes('/.git/');
    return false;
  }

  /** Records that `source` leads git to `target`. Null: `source` leads nowhere in this workspace any more. */
  point(source: RawPath, target: RawPath | null): void {
    const before = this.#leads.get(source) ?? null;
    const now = target !== null && this.#roots.some((root) => isWithin(root, target)) ? target : null;
    if (before === now) return;
    if (before !== null) this.#changed(true, () => this.#leads.delete(source));
    if (now !== null) {
      if (!this.isGitDir(now)) this.#newlyPointedAt.push(now);
      this.#changed(true, () => this.#leads.set(source, now));
    }
    this.#pointedAt = new Set(this.#leads.values());
  }

  /** Returns, once, the directories that became git directories because something leads there. */
  takeNewlyPointedAt(): RawPath[] {
    return this.#newlyPointedAt.splice(0);
  }

  addDirectory(path: RawPath, ctimeMs: number, ino: number, isGitDir: boolean): void {
    if (this.directories.rowOf(path) !== null || !this.isFull) this.directories.set(path, ctimeMs, ino);
    if (isGitDir) this.#changed(!this.#gitDirs.has(path), () => this.#gitDirs.add(path));
    else this.#changed(this.#gitDirs.has(path), () => this.#gitDirs.delete(path));
  }

  removeDirectory(path: RawPath): void {
    this.directories.delete(path);
    this.#unsearched.delete(path);
    this.#changed(this.#gitDirs.has(path), () => this.#gitDirs.delete(path));
  }

  accept(path: RawPath, danger: KnownDanger): void {
    const known = this.#dangers.get(path);
    const isNew =
      known === undefined ||
      (known.madeAtMs === undefined) !== (danger.madeAtMs === undefined) ||
      known.isHarmless !== danger.isHarmless;
    this.#changed(isNew, () => this.#dangers.set(path, danger));
    this.#dangers.set(path, danger);
    this.#youngestMadeMs = Math.max(this.#youngestMadeMs, danger.madeAtMs ?? 0);
  }

  removeDanger(path: RawPath): void {
    this.point(path, null);
    this.#changed(this.#dangers.has(path), () => this.#dangers.delete(path));
  }

  hide(path: RawPath, match: GlobMatch): void {
    this.#changed(this.#hidden.get(path) !== match, () => this.#hidden.set(path, match));
  }

  unhide(path: RawPath): void {
    this.#changed(this.#hidden.has(path), () => this.#hidden.delete(path));
  }

  #changed(isChange: boolean, change: () => unknown): void {
    if (!isChange) return;
    change();
    this.#version++;
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((one) => b.has(one));
}
