import { isErrno } from '../../core/errors.ts';
import { Access } from './access.ts';
import { isRepositoryName, makeRepository } from './git-dir.ts';
import type { GlobMatch, GlobSet } from './glob.ts';
import { identityOf } from './inode.ts';
import { gitDangersIn, isRecent, Judge, type JudgeParts } from './judge.ts';
import { type DangerKind, GIT_DANGERS, isProtectedName, PROTECTED_NAMES } from './protected-names.ts';
import { reasonFor } from './quarantine-reasons.ts';
import { below, isWithin, nameOf, parentOf, type RawPath, toText } from './raw-path.ts';
import { type ReadResult, readDirectory } from './read-directory.ts';
import { gitDirAround, isHarmlessGitDir } from './verdict.ts';

/** Bytes of a path below which nothing is searched: each directory of such a depth is remembered by its whole path. */
const SEARCHED_PATH_MAX_BYTES = 16 * 1024;

export interface ScanParts extends JudgeParts {
  readonly globs: GlobSet;
}

/** A directory to be read. `isFresh`: a run may have moved or made it, so nothing in it is taken for old. */
export interface Visit {
  readonly path: RawPath;
  readonly isFresh: boolean;
}

interface Listing {
  readonly dirs: RawPath[];
  readonly dangers: { readonly path: RawPath; readonly kind: DangerKind }[];
  readonly hidden: { readonly path: RawPath; readonly match: GlobMatch }[];
  /** Names that make a directory a repository, as far as they are there. */
  readonly gitNames: Set<string>;
  /** What is neither a directory nor a link, nor one of the dangers. */
  readonly files: RawPath[];
  readonly links: RawPath[];
}

/** Looks at directories and judges what is found in them. Every method stops now and then, so that it can be sliced. */
export class Scan {
  readonly judge: Judge;
  readonly #parts: ScanParts;
  readonly #access: Access;

  constructor(parts: ScanParts) {
    this.#parts = parts;
    this.#access = new Access(parts.index, parts.runs);
    this.judge = new Judge(parts, this.#access);
  }

  /** Whether a known directory changed; one that is gone is forgotten. */
  hasChanged(row: number, path: RawPath): boolean {
    const { index } = this.#parts;
    const stats = this.#access.stat(path);
    if (stats === 'closed') return false;
    if (stats === null || !stats.isDirectory() || stats.dev !== this.#access.deviceOf(path)) {
      index.removeDirectory(path);
      return false;
    }
    return index.directories.hasChanged(row, stats.ctimeMs, stats.ino);
  }

  /** Reads one directory, judges what is dangerous in it, and gives new directories to `onNew`. Returns its entries. */
  *visit(visit: Visit, onNew: (visit: Visit) => void): Generator<void, number> {
    const { index, runs, clock } = this.#parts;
    const { path } = visit;
    const listing = emptyListing();
    const readAt = clock.now();
    const read = yield* this.#read(path, listing);
    if (read === 'unread') return this.#remember(path);
    if (read === null || read.stats.dev !== this.#access.deviceOf(path)) {
      index.removeDirectory(path);
      return 0;
    }
    const { ino, ctimeMs } = read.stats;
    const looksLikeGitDir = nameOf(path) === '.git' || makeRepository(listing.gitNames);
    const becomesGitDir = looksLikeGitDir && !index.isGitDir(path);
    const isStamped = runs.mayHaveStamped(ctimeMs);
    if (becomesGitDir && isStamped && nameOf(path) !== '.git' && this.#undoRepository(path, listing.gitNames)) {
      onNew(visit);
      return read.entries;
    }
    const isNew = !index.directories.knows(path, ino) || becomesGitDir;
    const isFresh = visit.isFresh || (isNew && isStamped);
    index.addDirectory(path, ctimeMs, ino, looksLikeGitDir);
    let mayHaveMore = true;
    try {
      const isGitDir = looksLikeGitDir || index.isPointedAt(path);
      const hasUnremembered = yield* this.#take(path, listing, { isGitDir, isFresh }, onNew);
      mayHaveMore = hasUnremembered || isRecent(ctimeMs, readAt);
    } finally {
      const isGitDir = looksLikeGitDir;
      if (mayHaveMore) index.addDirectory(path, Number.NaN, ino, isGitDir);
    }
    return read.entries;
  }

  *#take(
    path: RawPath,
    listing: Listing,
    { isGitDir, isFresh }: { isGitDir: boolean; isFresh: boolean },
    onNew: (visit: Visit) => void,
  ): Generator<void, boolean> {
    const { index } = this.#parts;
    for (const danger of [...listing.dangers, ...(isGitDir ? gitDangersIn(path) : [])]) {
      yield* this.judge.decide(danger.path, danger.kind, isFresh);
    }
    for (const { path: hidden, match } of listing.hidden) {
      index.hide(hidden, match);
      yield;
    }
    for (const link of listing.links) {
      yield;
      if (this.judge.isSetAside(link) || index.dangers.has(link) || gitDirAround(link, index) === null) continue;
      yield* this.judge.decide(link, 'link', isFresh);
    }
    yield* this.#judgeStrays(listing.files);
    let [hasUnremembered, hasUnsearched] = [false, false];
    for (const dir of listing.dirs) {
      const isKnown = index.directories.rowOf(dir) !== null;
      if (dir.length > SEARCHED_PATH_MAX_BYTES) hasUnsearched = true;
      else if (isFresh || !isKnown) onNew({ path: dir, isFresh });
      hasUnremembered ||= !isKnown && index.isFull;
      yield;
    }
    index.setUnsearched(path, hasUnsearched);
    return hasUnremembered;
  }

  /**
   * A run that adds `HEAD` to a directory of the person's makes git run the hooks and settings in it. What the run added
   * is moved aside then, not what was there.
   */
  #undoRepository(path: RawPath, names: ReadonlySet<string>): boolean {
    const { index, runs } = this.#parts;
    const old = [...GIT_DANGERS].map(([name]) => `${path}/${name}`).filter((danger) => this.judge.isOld(danger));
    if (old.length === 0 || isHarmlessGitDir(path, index)) return false;
    const isMade = (name: string) => names.has(name) && !this.judge.isOld(`${path}/${name}`);
    const made = ['HEAD', 'commondir', 'objects', 'refs'].find(isMade);
    const exact = made === undefined ? null : this.#access.exactStat(`${path}/${made}`);
    if (made === undefined || exact === null || runs.areAllShutOut(`${path}/${made}`, identityOf(exact))) return false;
    this.judge.quarantine(`${path}/${made}`, identityOf(exact), reasonFor('pointer'));
    return this.#access.stat(`${path}/${made}`) === null;
  }

  /** Looks at the files of a directory that did not change itself: one may have been written in place. */
  *sweep(path: RawPath): Generator<void, void> {
    if (!this.#parts.runs.canTell) return;
    const listing = emptyListing();
    yield* this.#read(path, listing);
    yield* this.#judgeStrays(listing.files);
  }

  *#judgeStrays(files: readonly RawPath[]): Generator<void, void> {
    const { index, runs } = this.#parts;
    if (!runs.canTell) return;
    for (const file of files) {
      yield;
      const stats = this.#access.stat(file);
      if (stats === null || stats === 'closed' || !stats.isFile()) continue;
      if (!this.judge.mayBeRuns(stats, stats.ctimeMs) || this.judge.findStray(file) === null) continue;
      if (this.judge.isSetAside(file) || (index.dangers.get(file)?.kind ?? 'stray') !== 'stray') continue;
      yield* this.judge.decide(file, 'stray', false);
    }
  }

  /** Judges what can be dangerous in a root or a repository by name, however many other names there are. */
  *judgeNames(dir: RawPath): Generator<void, void> {
    const { index } = this.#parts;
    const isRoot = index.roots.includes(dir);
    const isGitDir = index.isGitDir(dir);
    for (const name of isRoot ? PROTECTED_NAMES : []) yield* this.judge.decide(`${dir}/${name}`, 'name', false);
    for (const { path, kind } of isGitDir ? gitDangersIn(dir) : []) yield* this.judge.decide(path, kind, false);
  }

  *#read(path: RawPath, listing: Listing): Generator<void, ReadResult | null | 'unread'> {
    try {
      return yield* readDirectory(path, (entry) => this.#sort(path, entry.name, entry.kind, listing));
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      if (cause.code === 'EACCES' && this.#access.reopen(path)) return yield* this.#read(path, listing);
      this.#parts.logger.debug('workspace.directory.unread', { path: toText(path), code: cause.code });
      return 'unread';
    }
  }

  /** A directory that a person closed: as soon as it is opened, it counts as changed. */
  #remember(path: RawPath): number {
    const stats = this.#access.stat(path);
    if (stats === null || stats === 'closed') this.#parts.index.removeDirectory(path);
    else this.#parts.index.addDirectory(path, stats.ctimeMs, stats.ino, nameOf(path) === '.git');
    return 0;
  }

  #sort(dir: RawPath, name: string, kind: 'dir' | 'link' | 'other', listing: Listing): void {
    const { globs, index } = this.#parts;
    const path = `${dir}/${name}`;
    const isDirectory = kind === 'dir';
    if (isRepositoryName(name)) listing.gitNames.add(name);
    const inGitDir = index.isGitDir(parentOf(dir)) ? GIT_DANGERS.get(`${nameOf(dir)}/${name}`) : undefined;
    if (isProtectedName(name)) listing.dangers.push({ path, kind: 'name' });
    else if (name.toLowerCase() === '.git' && !isDirectory) listing.dangers.push({ path, kind: 'pointer' });
    else if (index.isTarget(path)) listing.dangers.push({ path, kind: 'target' });
    else if (isDirectory) listing.dirs.push(path);
    else if (kind === 'link') listing.links.push(path);
    else listing.files.push(path);
    if (inGitDir !== undefined) listing.dangers.push({ path, kind: inGitDir });
    if (globs.isEmpty || kind === 'link') return;
    const [workspace = ''] = index.roots;
    if (!isWithin(workspace, dir)) return;
    const match = globs.match(toText(below(workspace, path)), isDirectory);
    if (match !== null) listing.hidden.push({ path, match });
  }
}

function emptyListing(): Listing {
  return { dirs: [], dangers: [], hidden: [], gitNames: new Set(), files: [], links: [] };
}
