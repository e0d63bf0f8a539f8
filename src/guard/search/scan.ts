import { isErrno } from '../../core/errors.ts';
import { identityOf } from '../../fs/file-access.ts';
import { earliestFileTime, mayChangeUnseen } from '../../fs/file-time.ts';
import type { GlobMatch, GlobSet } from '../../fs/glob.ts';
import { below, isWithin, nameOf, parentOf, type RawPath, toText } from '../../fs/raw-path.ts';
import { type Entry, type ReadResult, readDirectory } from '../../fs/read-directory.ts';
import { isRepositoryName, makeRepository } from '../git/git-dir.ts';
import { gitDirAround, isHarmlessGitDir } from '../git/judgement.ts';
import { Access } from '../index/access.ts';
import { KnownFiles } from '../index/known-files.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import {
  type DangerKind,
  dangerAs,
  GIT_DANGERS,
  isLockName,
  isReadByGit,
  isSharedIndex,
  meaningOf,
  PROTECTED_NAMES,
  reasonFor,
  reportedAs,
} from '../table/protected-names.ts';
import { gitDangersIn, Judge, type JudgeParts } from './judge.ts';
import { Mover } from './mover.ts';
import { type Noticed, Notices } from './notices.ts';

/** Directories with a longer path are not searched, in bytes: each is remembered by its whole path. */
const SEARCHED_PATH_MAX_BYTES = 16 * 1024;

export interface ScanParts extends JudgeParts {
  readonly globs: GlobSet;
}

/** A directory to be read. `isFresh`: a run may have made or moved it, so old ctimes in it prove nothing. */
export interface Visit {
  readonly path: RawPath;
  readonly isFresh: boolean;
}

interface Listing {
  readonly dirs: RawPath[];
  readonly dangers: { readonly path: RawPath; readonly kind: DangerKind }[];
  readonly hidden: { readonly path: RawPath; readonly match: GlobMatch }[];
  /** The names in it that make a directory a repository. */
  readonly gitNames: Set<string>;
  /** Everything else except the dangers. */
  readonly files: string[];
  readonly links: string[];
  /** What is reported because of its name, whatever else it is. */
  readonly noticed: Noticed[];
  /** Pipes, sockets and devices; and names of locks, whatever they are. */
  readonly specials: string[];
  readonly locks: string[];
}

/** Reads directories and judges what is dangerous in them. */
export class Scan {
  readonly judge: Judge;
  readonly mover: Mover;
  readonly #parts: ScanParts;
  readonly #access: Access;
  readonly #notices: Notices;
  readonly #files = new KnownFiles();

  constructor(parts: ScanParts) {
    this.#parts = parts;
    this.#access = new Access(parts.index, parts.runs);
    this.mover = new Mover(parts, this.#access);
    this.judge = new Judge(parts, this.#access, this.mover);
    this.#notices = new Notices({ ...parts, judge: this.judge, mover: this.mover, access: this.#access });
  }

  /** Opens a tree that a run closed to everybody: no later call could enter it. */
  openIfClosed(root: RawPath): void {
    this.#access.reopen(root);
  }

  /** Whether a known directory changed. A directory that is gone is forgotten. */
  hasChanged(row: number, path: RawPath): boolean {
    const { index } = this.#parts;
    const stats = this.#access.stat(path);
    if (stats === 'closed') return false;
    if (stats === null || !stats.isDirectory() || stats.dev !== this.#access.deviceOf(path)) {
      this.#forget(path);
      return false;
    }
    return index.directories.hasChanged(row, stats.ctimeMs, stats.ino);
  }

  /** Reads one directory, judges what is dangerous in it, and calls `onNew` with new directories. Returns the number of its entries. */
  visit(visit: Visit, onNew: (visit: Visit) => void): number {
    const { index, runs, clock } = this.#parts;
    const { path } = visit;
    const listing = emptyListing();
    const { version } = index;
    const readAt = earliestFileTime(clock);
    const read = this.#read(path, listing);
    if (index.roots.includes(path)) index.setUnread(path, read === 'unread');
    if (read === 'unread') return this.#remember(path);
    if (read === null || read.stats.dev !== this.#access.deviceOf(path)) {
      this.#forget(path);
      return 0;
    }
    const { ino, ctimeMs } = read.stats;
    const looksLikeGitDir = nameOf(path) === '.git' || makeRepository(listing.gitNames);
    const becomesGitDir = looksLikeGitDir && index.hasMemory && !index.isGitDir(path);
    const isStamped = runs.mayHaveStamped(ctimeMs);
    if (becomesGitDir && isStamped && nameOf(path) !== '.git' && this.#undoRepository(path, listing.gitNames)) {
      onNew(visit);
      return read.entries;
    }
    const isNew = index.hasMemory && (becomesGitDir || !index.directories.knows(path, ino));
    const isFresh = visit.isFresh || (isNew && isStamped && !this.#wasThere(path, listing.gitNames));
    index.addDirectory(path, ctimeMs, ino, looksLikeGitDir);
    let mayHaveMore = true;
    try {
      const isGitDir = looksLikeGitDir || index.isPointedAt(path);
      const hasUnremembered = this.#take(path, listing, { isGitDir, isFresh }, onNew);
      mayHaveMore = hasUnremembered || mayChangeUnseen(ctimeMs, readAt);
    } finally {
      const isGitDir = looksLikeGitDir;
      if (mayHaveMore) index.addDirectory(path, Number.NaN, ino, isGitDir);
    }
    this.#keepFiles(path, listing, version);
    return read.entries;
  }

  /** Whether a directory had this place and was a repository, if it is one, before every live run. */
  #wasThere(path: RawPath, gitNames: ReadonlySet<string>): boolean {
    if (this.#parts.index.roots.includes(path)) return false;
    // Making or moving something changes the directory that gets it.
    return [parentOf(path), ...[...gitNames].map((name) => `${path}/${name}`)].every((one) => this.judge.isOld(one));
  }

  /** Returns whether a subdirectory could not be remembered. */
  #take(
    path: RawPath,
    listing: Listing,
    { isGitDir, isFresh }: { isGitDir: boolean; isFresh: boolean },
    onNew: (visit: Visit) => void,
  ): boolean {
    const { index, pause } = this.#parts;
    for (const danger of [...listing.dangers, ...(isGitDir ? gitDangersIn(path) : [])]) {
      this.judge.decide(danger.path, danger.kind, isFresh);
    }
    for (const { path: hidden, match } of listing.hidden) index.hide(hidden, match);
    const kind = isGitDir || gitDirAround(path, index) !== null ? 'link' : 'exit';
    for (const name of listing.links) {
      pause();
      const link = `${path}/${name}`;
      if (this.mover.isSetAside(link) || (index.dangers.get(link)?.kind ?? kind) !== kind) continue;
      if (kind === 'exit' || !index.dangers.has(link)) this.judge.decide(link, kind, isFresh);
    }
    this.#judgeBlocking(path, listing, isFresh);
    this.#judgeStrays(path, listing.files);
    this.#notices.take(path, listing.noticed, isFresh);
    let [hasUnremembered, hasUnsearched] = [false, false];
    for (const dir of listing.dirs) {
      const isKnown = index.directories.rowOf(dir) !== null;
      if (dir.length > SEARCHED_PATH_MAX_BYTES) hasUnsearched = true;
      else if (isFresh || !isKnown) onNew({ path: dir, isFresh });
      hasUnremembered ||= !isKnown && index.isFull;
    }
    index.setUnsearched(path, hasUnsearched);
    return hasUnremembered;
  }

  /** Judges what would keep git waiting. A pipe that git has no reason to open is ordinary. */
  #judgeBlocking(dir: RawPath, { specials, locks }: Listing, isFresh: boolean): void {
    const { index } = this.#parts;
    for (const name of specials) {
      const path = `${dir}/${name}`;
      if (isReadByGit(name) || gitDirAround(path, index) !== null) this.judge.decide(path, 'special', isFresh);
    }
    for (const name of locks) {
      const path = `${dir}/${name}`;
      if (!this.mover.isSetAside(path) && gitDirAround(path, index) !== null) this.judge.decide(path, 'lock', isFresh);
    }
  }

  /**
   * A run that adds `HEAD` to a directory of the person's makes git run the hooks and settings in it. Then the added file is
   * moved aside, not the person's.
   */
  #undoRepository(path: RawPath, names: ReadonlySet<string>): boolean {
    const { index, runs } = this.#parts;
    const old = [...GIT_DANGERS].map(([name]) => `${path}/${name}`).filter((danger) => this.judge.isOld(danger));
    if (old.length === 0 || isHarmlessGitDir(path, index)) return false;
    const isMade = (name: string) => names.has(name) && !this.judge.isOld(`${path}/${name}`);
    const made = ['HEAD', 'commondir', 'objects', 'refs'].find(isMade);
    const exact = made === undefined ? null : this.#access.exactStat(`${path}/${made}`);
    if (made === undefined || exact === null || runs.areAllShutOut(`${path}/${made}`, identityOf(exact))) return false;
    this.mover.quarantine(`${path}/${made}`, identityOf(exact), reasonFor('pointer'));
    return this.#access.stat(`${path}/${made}`) === null;
  }

  /** Judges the files of a directory that did not change itself: a file may have been written in place. */
  sweep(path: RawPath): void {
    const { index, runs } = this.#parts;
    if (!runs.canTell) return;
    const known = this.#isAsRead(path) ? this.#files.get(path, index.version) : null;
    if (known !== null) {
      this.#judgeStrays(path, known);
      return;
    }
    const listing = emptyListing();
    const { version } = index;
    const read = this.#read(path, listing);
    const row = index.directories.rowOf(path) ?? -1;
    if (read === null || read === 'unread' || index.directories.hasChanged(row, read.stats.ctimeMs, read.stats.ino))
      this.#files.forget(path);
    else this.#keepFiles(path, listing, version);
    this.#judgeStrays(path, listing.files);
    this.#notices.sweep(path, listing.noticed);
  }

  /** Whether a directory has the names that it had when it was read last. */
  #isAsRead(path: RawPath): boolean {
    const { directories } = this.#parts.index;
    const row = directories.rowOf(path);
    const stats = row === null ? null : this.#access.stat(path);
    if (row === null || stats === null || stats === 'closed') return false;
    return stats.dev === this.#access.deviceOf(path) && !directories.hasChanged(row, stats.ctimeMs, stats.ino);
  }

  /** `version`: of the index before the directory was read. Instructions for agents are looked at in each sweep. */
  #keepFiles(path: RawPath, { files, noticed }: Listing, version: number): void {
    const { index } = this.#parts;
    const isKept = index.version === version && index.directories.rowOf(path) !== null;
    if (isKept && !noticed.some(({ action }) => action === 'instructions')) this.#files.set(path, version, files);
    else this.#files.forget(path);
  }

  #judgeStrays(dir: RawPath, names: readonly string[]): void {
    const { index, runs, pause } = this.#parts;
    if (!runs.canTell) return;
    for (const name of names) {
      pause();
      const file = `${dir}/${name}`;
      const stats = this.#access.stat(file);
      if (stats === null || stats === 'closed' || !stats.isFile()) continue;
      if (!this.judge.mayBeRuns(stats, stats.ctimeMs) || this.judge.findStray(file) === null) continue;
      if (this.mover.isSetAside(file) || (index.dangers.get(file)?.kind ?? 'stray') !== 'stray') continue;
      this.judge.decide(file, 'stray', false);
    }
  }

  /** Judges the dangerous names of a large root or of a repository without reading the directory. */
  judgeNames(dir: RawPath): void {
    const { index } = this.#parts;
    const isRoot = index.roots.includes(dir);
    const isGitDir = index.isGitDir(dir);
    for (const name of isRoot ? PROTECTED_NAMES : []) this.judge.decide(`${dir}/${name}`, 'name', false);
    for (const { path, kind } of isGitDir ? gitDangersIn(dir) : []) this.judge.decide(path, kind, false);
  }

  #read(path: RawPath, listing: Listing): ReadResult | null | 'unread' {
    try {
      return readDirectory(path, (entry) => this.#sort(path, entry.name, entry.kind, listing));
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      if (cause.code === 'EACCES' && this.#access.reopen(path)) return this.#read(path, listing);
      this.#parts.logger.debug('workspace.directory.unread', { path: toText(path), code: cause.code });
      return 'unread';
    }
  }

  #forget(path: RawPath): void {
    this.#parts.index.removeDirectory(path);
    this.#files.forget(path);
    this.#notices.forget(path);
  }

  /** Remembers a directory that a person closed. When it is opened, its ctime changes and it is read. */
  #remember(path: RawPath): number {
    this.#files.forget(path);
    const stats = this.#access.stat(path);
    if (stats === null || stats === 'closed') this.#forget(path);
    else this.#parts.index.addDirectory(path, stats.ctimeMs, stats.ino, nameOf(path) === '.git');
    return 0;
  }

  #sort(dir: RawPath, name: string, kind: Entry['kind'], listing: Listing): void {
    const { globs, index, pause } = this.#parts;
    pause();
    const path = `${dir}/${name}`;
    const isDirectory = kind === 'dir';
    if (isRepositoryName(name)) listing.gitNames.add(name);
    const inGitDir = index.isGitDir(parentOf(dir)) ? GIT_DANGERS.get(`${nameOf(dir)}/${name}`) : undefined;
    if (isLockName(name)) listing.locks.push(name);
    const named = meaningOf(below(index.rootOf(dir), dir), name);
    const danger = dangerAs(named);
    if (danger === 'name') listing.dangers.push({ path, kind: 'name' });
    else if (name.toLowerCase() === '.git' && !isDirectory) listing.dangers.push({ path, kind: 'pointer' });
    else if (index.isTarget(path)) listing.dangers.push({ path, kind: 'target' });
    else if (isDirectory) listing.dirs.push(path);
    else if (danger === 'checked') listing.dangers.push({ path, kind: 'checked' });
    else if (kind === 'link') listing.links.push(name);
    else if (kind === 'special') listing.specials.push(name);
    else listing.files.push(name);
    const reported = reportedAs(named);
    if (reported !== null && gitDirAround(path, index) === null) listing.noticed.push({ name, ...reported });
    if (inGitDir !== undefined) listing.dangers.push({ path, kind: inGitDir });
    if (isSharedIndex(name)) listing.dangers.push({ path, kind: 'paths' });
    if (name === 'alternates' && isObjectsOfGitDir(dir, index)) listing.dangers.push({ path, kind: 'alternates' });
    if (globs.isEmpty || kind === 'link') return;
    const [workspace = ''] = index.roots;
    if (!isWithin(workspace, dir)) return;
    const match = globs.match(toText(below(workspace, path)), isDirectory);
    if (match !== null) listing.hidden.push({ path, match });
  }
}

/** `objects/info` of a git directory. */
function isObjectsOfGitDir(dir: RawPath, index: Pick<WorkspaceIndex, 'isGitDir'>): boolean {
  return dir.endsWith('/objects/info') && index.isGitDir(parentOf(parentOf(dir)));
}

function emptyListing(): Listing {
  return {
    dirs: [],
    dangers: [],
    hidden: [],
    gitNames: new Set(),
    files: [],
    links: [],
    noticed: [],
    specials: [],
    locks: [],
  };
}
