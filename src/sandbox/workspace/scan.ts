import type { Stats } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { Access } from './access.ts';
import { commonDirNamedBy, gitDirNamedBy, isRepositoryName, makeRepository } from './git-dir.ts';
import { runsOf } from './git-state.ts';
import type { GlobMatch, GlobSet } from './glob.ts';
import { exactStatAt, identityOf, linkTextAt, readSmallFile } from './inode.ts';
import type { Lead } from './lead.ts';
import { type DangerKind, GIT_DANGERS, isProtectedName, PROTECTED_NAMES } from './protected-names.ts';
import { moveAside, removeEmpty, restoreLink } from './quarantine.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { reasonFor } from './quarantine-reasons.ts';
import { below, isWithin, nameOf, parentOf, type RawPath, toText } from './raw-path.ts';
import { newestOf, type ReadResult, readDirectory } from './read-directory.ts';
import type { Runs } from './runs.ts';
import { findStrayKey } from './stray-config.ts';
import { gitDirAround, isHarmlessGitDir, mayStay, STATE_MAX_BYTES } from './verdict.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds: what changed so recently may change again within one tick of the kernel, and its time would not tell. */
const TICK_MS = 20;

/** Bytes of a path below which nothing is searched: each directory of such a depth is remembered by its whole path. */
const SEARCHED_PATH_MAX_BYTES = 16 * 1024;

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
  /** What is neither a directory nor a link, nor one of the dangers. */
  readonly files: RawPath[];
  readonly links: RawPath[];
}

/** Looks at directories and judges what is found in them. Every method stops now and then, so that it can be sliced. */
export class Scan {
  readonly #parts: ScanParts;
  readonly #access: Access;
  /** What was moved aside, under its new name, which bears a time of the run. */
  readonly #setAside = new Set<RawPath>();
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
    const listing = emptyListing();
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
      mayHaveMore = hasUnremembered || this.#isRecent(ctimeMs);
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
      yield* this.judge(danger.path, danger.kind, isFresh);
    }
    for (const { path: hidden, match } of listing.hidden) {
      index.hide(hidden, match);
      yield;
    }
    for (const link of listing.links) {
      yield;
      if (this.#setAside.has(link) || index.dangers.has(link) || gitDirAround(link, index) === null) continue;
      yield* this.judge(link, 'link', isFresh);
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
    const old = [...GIT_DANGERS].map(([name]) => `${path}/${name}`).filter((danger) => this.#isOld(danger));
    if (old.length === 0 || isHarmlessGitDir(path, index)) return false;
    const isMade = (name: string) => names.has(name) && !this.#isOld(`${path}/${name}`);
    const made = ['HEAD', 'commondir', 'objects', 'refs'].find(isMade);
    const exact = made === undefined ? null : this.#access.exactStat(`${path}/${made}`);
    if (made === undefined || exact === null || runs.areAllShutOut(`${path}/${made}`, identityOf(exact))) return false;
    this.quarantine(`${path}/${made}`, identityOf(exact), reasonFor('pointer'));
    return this.#access.stat(`${path}/${made}`) === null;
  }

  /** Whether something is there that no run made, changed or put there. */
  #isOld(path: RawPath): boolean {
    const stats = this.#access.stat(path);
    return stats !== null && stats !== 'closed' && !this.#parts.runs.mayHaveStamped(stats.ctimeMs);
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
      if (!runs.mayHaveStamped(stats.ctimeMs) || this.#findStray(file) === null) continue;
      if (this.#setAside.has(file) || (index.dangers.get(file)?.kind ?? 'stray') !== 'stray') continue;
      yield* this.judge(file, 'stray', false);
    }
  }

  #findStray(file: RawPath): string | null {
    try {
      return findStrayKey(file);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Judges what can be dangerous in a root or a repository by name, however many other names there are. */
  *judgeNames(dir: RawPath): Generator<void, void> {
    const { index } = this.#parts;
    const isRoot = index.roots.includes(dir);
    const isGitDir = index.isGitDir(dir);
    for (const name of isRoot ? PROTECTED_NAMES : []) yield* this.judge(`${dir}/${name}`, 'name', false);
    for (const { path, kind } of isGitDir ? gitDangersIn(dir) : []) yield* this.judge(path, kind, false);
  }

  /**
   * Accepts what is there, or moves it aside: it stays when no run can have made or changed it, when it is what was
   * accepted before, when it was only moved, and, in a git directory, when its content is harmless.
   */
  *judge(path: RawPath, kind: DangerKind, isFresh: boolean): Generator<void, void> {
    yield* this.#judgeHere(path, kind, isFresh);
    for (const gitDir of this.#parts.index.takeNewlyPointedAt()) {
      for (const danger of gitDangersIn(gitDir)) yield* this.judge(danger.path, danger.kind, isFresh);
    }
  }

  *#judgeHere(path: RawPath, kind: DangerKind, isFresh: boolean): Generator<void, void> {
    const { index, runs, ledger } = this.#parts;
    const [stats, exact] = [this.#access.stat(path), this.#access.exactStat(path)];
    if (stats === 'closed') return;
    if (stats === null || exact === null || this.#isHarmlessNow(path, kind, stats)) return index.removeDanger(path);
    const identity = identityOf(exact);
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const known = index.dangers.get(path);
    const isKnown = known?.identity === identity;
    const lead = this.#leadOf(path, kind);
    const target = lead?.target ?? null;
    const accept = (stamp: number, runs?: readonly string[]): void => {
      if (kind === 'pointer' || kind === 'commondir') index.point(path, target);
      index.accept(path, { kind, identity, link, stamp, target, ...(runs === undefined ? {} : { runs }) });
    };
    const isRedirected = isKnown && known.target !== undefined && known.target !== target;
    if (!isRedirected && runs.areAllShutOut(path, identity)) return accept(isKnown ? known.stamp : Number.NaN);
    const isSuspect = (ctimeMs: number) => !isKnown && (isFresh || runs.mayHaveStamped(ctimeMs));
    const newest = yield* newestOf(path, stats, isSuspect);
    const isUnchanged = isKnown && (link === null ? known.stamp === newest.newestMs : known.link === link);
    const isOld = !newest.isSuspect && !runs.mayHaveStamped(newest.newestMs);
    const stamp = this.#isRecent(newest.newestMs) ? Number.NaN : newest.newestMs;
    const sheet = kind === 'state' ? this.#runsIn(path) : undefined;
    if (isRedirected && !this.#isHarmlessLead(lead)) return this.#quarantineLead(path, identity, kind, lead);
    if (isUnchanged || isOld || runs.haveAllKept(identity)) return accept(stamp, sheet);
    if (sheet !== undefined && known?.runs !== undefined && sheet.every((line) => known.runs?.includes(line)))
      return accept(stamp, sheet);
    if (mayStay(kind, path, index)) return accept(stamp, sheet);
    // Without a stamp, the content is compared again as long as a run can change it: a mapped file can change without one.
    if (ledger.accepts(path) && ledger.acceptsContent(path)) return accept(Number.NaN, sheet);
    this.quarantine(path, identity, reasonFor(kind));
  }

  /** Where a file leads git; null for one that leads nowhere, or of another kind. */
  #leadOf(path: RawPath, kind: DangerKind): Lead | null {
    if (kind !== 'pointer' && kind !== 'commondir') return null;
    try {
      return kind === 'pointer' ? gitDirNamedBy(path) : commonDirNamedBy(path);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Outside of the workspace no run made anything. */
  #isHarmlessLead(lead: Lead | null): boolean {
    const { index } = this.#parts;
    if (lead === null) return true;
    if (!index.roots.some((root) => isWithin(root, lead.target))) return lead.links.length === 0;
    return index.isGitDir(lead.target) || isHarmlessGitDir(lead.target, index);
  }

  /** The link that a run turned elsewhere, if there is one; otherwise the file that leads through it. */
  #quarantineLead(path: RawPath, identity: string, kind: DangerKind, lead: Lead | null): void {
    const turned = lead?.links.find((link) => link !== path && !this.#isOld(link));
    const exact = turned === undefined ? null : this.#access.exactStat(turned);
    if (turned === undefined || exact === null) this.quarantine(path, identity, reasonFor(kind));
    else this.quarantine(turned, identityOf(exact), reasonFor(kind));
  }

  /** What an instruction sheet runs; undefined if it cannot be read. */
  #runsIn(path: RawPath): readonly string[] | undefined {
    if (!path.endsWith('todo')) return undefined;
    try {
      const text = readSmallFile(path, STATE_MAX_BYTES);
      return text === null ? undefined : runsOf(text);
    } catch (cause) {
      if (isErrno(cause)) return undefined;
      throw cause;
    }
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
      this.#setAside.add(moved);
      runs.report(path, identity, ledger.note(path, moved, reason));
      logger.warn('sandbox.quarantined', { path: toText(path), moved: toText(moved), reason });
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

  /** A `.git` file that gave way to a repository is judged by what lies in that; parts of what is none are only files. */
  #isHarmlessNow(path: RawPath, kind: DangerKind, stats: Stats): boolean {
    const { index } = this.#parts;
    if (kind === 'name') return false;
    if (kind === 'pointer') return stats.isDirectory();
    if (kind === 'target') return !index.isTarget(path);
    if (kind === 'stray') return this.#findStray(path) === null;
    if (kind === 'link') return !stats.isSymbolicLink();
    if (kind === 'directory' && !stats.isSymbolicLink()) return true;
    return !index.isGitDir(parentOf(path)) && !index.isGitDir(parentOf(parentOf(path)));
  }

  #isRecent(ctimeMs: number): boolean {
    return ctimeMs > this.#parts.clock.now() - TICK_MS;
  }
}

function emptyListing(): Listing {
  return { dirs: [], dangers: [], hidden: [], gitNames: new Set(), files: [], links: [] };
}

function gitDangersIn(gitDir: RawPath): { path: RawPath; kind: DangerKind }[] {
  return [...GIT_DANGERS].map(([name, kind]) => ({ path: `${gitDir}/${name}`, kind }));
}
