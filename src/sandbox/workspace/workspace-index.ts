import { DirectoryTable } from './directory-table.ts';
import type { GlobMatch } from './glob.ts';
import type { DangerKind } from './protected-names.ts';
import { isWithin, type RawPath } from './raw-path.ts';

/** Directories that are remembered for one workspace; some 40 MB. */
export const DIRECTORIES_MAX = 200_000;

/** A protected path that exists and was accepted. */
export interface KnownDanger {
  readonly kind: DangerKind;
  /** Of the inode it is; a link's own. */
  readonly identity: string;
  /** Milliseconds: the newest ctime of it and of everything in it when it was accepted. NaN: not known. */
  readonly stamp: number;
  /** Text of a symbolic link, which nobody can change without making another link. */
  readonly link: RawPath | null;
}

/** What is known of a workspace: its directories, and in them what is protected and what is hidden. */
export class WorkspaceIndex {
  readonly directories = new DirectoryTable();
  readonly #roots: RawPath[];
  readonly #gitDirs = new Set<RawPath>();
  readonly #dangers = new Map<RawPath, KnownDanger>();
  readonly #hidden = new Map<RawPath, GlobMatch>();
  #version = 0;
  #isComplete = true;

  constructor(workspace: RawPath) {
    this.#roots = [workspace];
  }

  /** The writable trees: the workspace, and a worktree's common git directory. */
  get roots(): readonly RawPath[] {
    return this.#roots;
  }

  get gitDirs(): ReadonlySet<RawPath> {
    return this.#gitDirs;
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

  /** False once something was left out because there was too much. */
  get isComplete(): boolean {
    return this.#isComplete;
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

  truncate(): void {
    this.#isComplete = false;
  }

  addDirectory(path: RawPath, ctimeMs: number, ino: number, isGitDir: boolean): void {
    if (this.directories.rowOf(path) === null && this.directories.size >= DIRECTORIES_MAX) this.truncate();
    else this.directories.set(path, ctimeMs, ino);
    if (isGitDir) this.#changed(!this.#gitDirs.has(path), () => this.#gitDirs.add(path));
    else this.#changed(this.#gitDirs.has(path), () => this.#gitDirs.delete(path));
  }

  removeDirectory(path: RawPath): void {
    this.directories.delete(path);
    this.#changed(this.#gitDirs.has(path), () => this.#gitDirs.delete(path));
  }

  accept(path: RawPath, danger: KnownDanger): void {
    this.#changed(!this.#dangers.has(path), () => this.#dangers.set(path, danger));
    this.#dangers.set(path, danger);
  }

  removeDanger(path: RawPath): void {
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
