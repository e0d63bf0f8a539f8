import type { Stats } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { Access } from './access.ts';
import type { GlobMatch, GlobSet } from './glob.ts';
import { exactStatAt, identityOf, linkTextAt } from './inode.ts';
import { type DangerKind, GIT_DANGERS, isProtectedName, PROTECTED_NAMES } from './protected-names.ts';
import { moveAside, removeEmpty, restoreLink } from './quarantine.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { reasonFor } from './quarantine-reasons.ts';
import { below, isWithin, nameOf, parentOf, type RawPath, toText } from './raw-path.ts';
import { newestOf, type ReadResult, readDirectory } from './read-directory.ts';
import type { Runs } from './runs.ts';
import { mayStay } from './verdict.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds: what changed so recently may change again within one tick of the kernel, and its time would not tell. */
const TICK_MS = 20;

export interface ScanParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  readonly globs: GlobSet;
  /** Where sandboxes are being built at this moment: an empty file or directory there may be bubblewrap's. */
  readonly building: ReadonlyMap<RawPath, number>;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
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
}

const REPOSITORY_NAMES: ReadonlySet<string> = new Set(['HEAD', 'objects', 'refs', 'commondir']);

/** Looks at directories and judges what is found in them. Every method stops now and then, so that it can be sliced. */
export class Scan {
  readonly #parts: ScanParts;
  readonly #access: Access;
  #failure: ContextdError | null = null;

  constructor(parts: ScanParts) {
    this.#parts = parts;
    this.#access = new Access(parts.index, parts.runs);
  }

  /** What kept something dangerous from being moved away, once. */
  takeFailure(): ContextdError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
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
    const { index, runs } = this.#parts;
    const { path } = visit;
    const listing: Listing = { dirs: [], dangers: [], hidden: [], gitNames: new Set() };
    const read = yield* this.#read(path, listing);
    if (read === 'unread') return this.#remember(path);
    if (read === null || read.stats.dev !== this.#access.deviceOf(path)) {
      index.removeDirectory(path);
      return 0;
    }
    const { ino, ctimeMs } = read.stats;
    const isGitDir = nameOf(path) === '.git' || isRepository(listing.gitNames);
    const isNew = !index.directories.knows(path, ino) || (isGitDir && !index.gitDirs.has(path));
    const isFresh = visit.isFresh || (isNew && runs.mayHaveStamped(ctimeMs));
    index.addDirectory(path, ctimeMs, ino, isGitDir);
    let mayHaveMore = true;
    try {
      yield* this.#take(path, listing, { isGitDir, isFresh }, onNew);
      mayHaveMore = this.#isRecent(ctimeMs);
    } finally {
      if (mayHaveMore) index.addDirectory(path, Number.NaN, ino, isGitDir);
    }
    return read.entries;
  }

  *#take(
    path: RawPath,
    listing: Listing,
    { isGitDir, isFresh }: { isGitDir: boolean; isFresh: boolean },
    onNew: (visit: Visit) => void,
  ): Generator<void, void> {
    const { index } = this.#parts;
    for (const danger of [...listing.dangers, ...(isGitDir ? gitDangersIn(path) : [])]) {
      yield* this.judge(danger.path, danger.kind, isFresh);
    }
    for (const { path: hidden, match } of listing.hidden) {
      index.hide(hidden, match);
      yield;
    }
    for (const dir of listing.dirs) {
      if (isFresh || index.directories.rowOf(dir) === null) onNew({ path: dir, isFresh });
      yield;
    }
  }

  /** Judges what can be dangerous in a root or a repository by name, however many other names there are. */
  *judgeNames(dir: RawPath): Generator<void, void> {
    const { index } = this.#parts;
    const isRoot = index.roots.includes(dir);
    const isGitDir = index.gitDirs.has(dir);
    for (const name of isRoot ? PROTECTED_NAMES : []) yield* this.judge(`${dir}/${name}`, 'name', false);
    for (const { path, kind } of isGitDir ? gitDangersIn(dir) : []) yield* this.judge(path, kind, false);
  }

  /**
   * Accepts what is there, or moves it aside: it stays when no run can have made or changed it, when it is what was
   * accepted before, when it was only moved, and, in a git directory, when its content is harmless.
   */
  *judge(path: RawPath, kind: DangerKind, isFresh: boolean): Generator<void, void> {
    const { index, runs, ledger } = this.#parts;
    const [stats, exact] = [this.#access.stat(path), this.#access.exactStat(path)];
    if (stats === 'closed') return;
    if (stats === null || exact === null || this.#isHarmlessNow(path, kind, stats)) return index.removeDanger(path);
    const identity = identityOf(exact);
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const known = index.dangers.get(path);
    const isKnown = known?.identity === identity;
    if (runs.areAllShutOut(path, identity)) {
      return index.accept(path, { kind, identity, link, stamp: isKnown ? known.stamp : Number.NaN });
    }
    const isSuspect = (ctimeMs: number) => !isKnown && (isFresh || runs.mayHaveStamped(ctimeMs));
    const newest = yield* newestOf(path, stats, isSuspect);
    const isUnchanged = isKnown && (link === null ? known.stamp === newest.newestMs : known.link === link);
    const isOld = !newest.isSuspect && !runs.mayHaveStamped(newest.newestMs);
    const stamp = this.#isRecent(newest.newestMs) ? Number.NaN : newest.newestMs;
    if (isUnchanged || isOld || runs.haveAllKept(identity) || mayStay(kind, path, index.roots)) {
      return index.accept(path, { kind, identity, link, stamp });
    }
    // Without a stamp, the content is compared again as long as a run can change it: a mapped file can change without one.
    if (ledger.accepts(path) && ledger.acceptsContent(path)) {
      return index.accept(path, { kind, identity, link, stamp: Number.NaN });
    }
    this.quarantine(path, identity, reasonFor(kind));
  }

  /** Whether some run that is not settled can have changed it where it is. */
  isOpen(path: RawPath): boolean {
    return !this.#parts.runs.areAllShutOut(path, null);
  }

  /** Moves it aside and says so, in the log and to the runs that may have made it. */
  quarantine(path: RawPath, identity: string, reason: string): void {
    const { index, runs, ledger, logger, building } = this.#parts;
    index.removeDanger(path);
    if (building.has(path) && removeEmpty(path)) return;
    this.#change(path, () => {
      const moved = moveAside(path);
      if (moved === null) return;
      runs.report(path, identity, ledger.note(path, moved, reason));
      logger.warn('sandbox.quarantined', { path: toText(path), moved: toText(moved) });
    });
  }

  /** Makes a protected link again that a run removed. */
  putBack(path: RawPath, text: RawPath): void {
    this.#change(path, () => {
      restoreLink(path, text);
      const stats = exactStatAt(path);
      if (stats?.isSymbolicLink() !== true || linkTextAt(path) !== text) return;
      const kind = nameOf(path) === '.git' ? 'pointer' : 'name';
      this.#parts.index.accept(path, { kind, identity: identityOf(stats), link: text, stamp: Number.NaN });
    });
  }

  #change(path: RawPath, change: () => void): void {
    try {
      change();
    } catch (cause) {
      this.#failure = ContextdError.from(cause);
      this.#parts.logger.error('sandbox.quarantine.failed', { path: toText(path) }, cause);
    }
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
    if (REPOSITORY_NAMES.has(name)) listing.gitNames.add(name);
    if (isProtectedName(name)) listing.dangers.push({ path, kind: 'name' });
    else if (name === '.git' && !isDirectory) listing.dangers.push({ path, kind: 'pointer' });
    else if (isDirectory) listing.dirs.push(path);
    if (name === 'attributes' && nameOf(dir) === 'info' && index.gitDirs.has(parentOf(dir))) {
      listing.dangers.push({ path, kind: 'attributes' });
    }
    if (globs.isEmpty || kind === 'link') return;
    const [workspace = ''] = index.roots;
    if (!isWithin(workspace, dir)) return;
    const match = globs.match(toText(below(workspace, path)), isDirectory);
    if (match !== null) listing.hidden.push({ path, match });
  }

  /** A `.git` file that gave way to a repository is judged by what lies in that; parts of what is none are only files. */
  #isHarmlessNow(path: RawPath, kind: DangerKind, stats: Stats): boolean {
    if (kind === 'name') return false;
    if (kind === 'pointer') return stats.isDirectory();
    if (kind === 'info' && !stats.isSymbolicLink()) return true;
    return !this.#parts.index.gitDirs.has(kind === 'attributes' ? parentOf(parentOf(path)) : parentOf(path));
  }

  #isRecent(ctimeMs: number): boolean {
    return ctimeMs > this.#parts.clock.now() - TICK_MS;
  }
}

function isRepository(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}

function gitDangersIn(gitDir: RawPath): { path: RawPath; kind: DangerKind }[] {
  return [...GIT_DANGERS].map(([name, kind]) => ({ path: `${gitDir}/${name}`, kind }));
}
