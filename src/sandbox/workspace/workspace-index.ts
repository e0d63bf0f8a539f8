import { DirectoryTable } from './directory-table.ts';
import type { GlobMatch } from './glob.ts';
import type { DangerKind } from './protected-names.ts';
import { isWithin, type RawPath } from './raw-path.ts';

/** Directories that are remembered for one workspace, and bytes of their paths: some 40 MB, at most 80. */
const DIRECTORIES_MAX = 200_000;
const PATHS_MAX_BYTES = 48 * 1024 * 1024;

/** A protected path that exists and was accepted. */
export interface KnownDanger {
  readonly kind: DangerKind;
  /** Of the inode it is; a link's own. */
  readonly identity: string;
  /** Milliseconds: the newest ctime of it and of everything in it when it was accepted. NaN: not known. */
  readonly stamp: number;
  /** Text of a symbolic link, which nobody can change without making another link. */
  readonly link: RawPath | null;
  /** Of a file that leads git elsewhere: where it led. Another target makes it another file. */
  readonly target?: RawPath | null;
  /** Of an instruction sheet: the lines in it that run programs. */
  readonly runs?: readonly string[];
}

/** What is known of a workspace: its directories, and in them what is protected and what is hidden. */
export class WorkspaceIndex {
  readonly directories = new DirectoryTable();
  readonly #roots: RawPath[];
  /** Git directories by their name or by what they contain, and those that a `.git` or a `commondir` leads to. */
  readonly #gitDirs = new Set<RawPath>();
  readonly #leads = new Map<RawPath, RawPath>();
  #pointedAt: ReadonlySet<RawPath> = new Set();
  readonly #newlyPointedAt: RawPath[] = [];
  readonly #unsearched = new Set<RawPath>();
  #targets: ReadonlySet<RawPath> = new Set();
  #relativeTargets: ReadonlySet<string> = new Set();
  readonly #dangers = new Map<RawPath, KnownDanger>();
  readonly #hidden = new Map<RawPath, GlobMatch>();
  #version = 0;
  #isWalked = true;

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

  /** Whether something leads git there, so that it is a git directory whatever it contains. */
  isPointedAt(path: RawPath): boolean {
    return this.#pointedAt.has(path);
  }

  /** By `.git` file or `commondir`, the git directory that it leads to. */
  get leads(): ReadonlyMap<RawPath, RawPath> {
    return this.#leads;
  }

  /** What the person's own git configuration and hooks run or read in the workspace, whether it exists or not. */
  get targets(): ReadonlySet<RawPath> {
    return this.#targets;
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

  /** False until the first walk is over, and while there are directories that nobody can look into. */
  get isComplete(): boolean {
    return this.#isWalked && this.#unsearched.size === 0;
  }

  /** True when no further directory is remembered: those are read again after every run. */
  get isFull(): boolean {
    return this.directories.size >= DIRECTORIES_MAX || this.directories.bytes >= PATHS_MAX_BYTES;
  }

  addRoot(root: RawPath): boolean {
    if (this.#roots.some((one) => isWithin(one, root))) return false;
    this.#roots.push(root);
    return true;
  }

  /** The writable tree that holds `path`. */
  rootOf(path: RawPath): RawPath {
    return this.#roots.find((root) => isWithin(root, path)) ?? '/';
  }

  setWalked(isWalked: boolean): void {
    this.#isWalked = isWalked;
  }

  /** Whether what lies in a directory was left out. */
  setUnsearched(path: RawPath, isUnsearched: boolean): void {
    if (isUnsearched) this.#unsearched.add(path);
    else this.#unsearched.delete(path);
  }

  /** `relative`: paths that are targets below any directory, because a worktree may be made there. */
  setTargets(targets: ReadonlySet<RawPath>, relative: ReadonlySet<string>): void {
    this.#changed(!isSame(targets, this.#targets), () => {
      this.#targets = targets;
    });
    this.#changed(!isSame(relative, this.#relativeTargets), () => {
      this.#relativeTargets = relative;
    });
  }

  /** Paths that are targets below any directory. */
  get relativeTargets(): ReadonlySet<string> {
    return this.#relativeTargets;
  }

  /** Whether the person's own git configuration or hooks would run or read what is there. */
  isTarget(path: RawPath): boolean {
    if (this.#targets.has(path)) return true;
    for (const end of this.#relativeTargets) if (path.endsWith(`/${end}`)) return !path.includes('/.git/');
    return false;
  }

  /** `source` leads git to `target`; null: nowhere in this workspace any more. */
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

  /** Directories that became git directories because something leads there, once. */
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
    this.#changed(!this.#dangers.has(path), () => this.#dangers.set(path, danger));
    this.#dangers.set(path, danger);
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
