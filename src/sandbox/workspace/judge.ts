import type { Stats } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { isPartOf } from './content-hash.ts';
import { type Access, exactStatAt, identityOf, linkTextAt } from './file-access.ts';
import { commonDirNamedBy, gitDirNamedBy, type Lead, objectFormatOf } from './git-dir.ts';
import { excludeSetAside, repositoryAt } from './git-exclude.ts';
import { type DangerKind, GIT_DANGERS, leadsToProtected, reasonFor } from './protected-names.ts';
import { moveAside, removeEmpty, restoreLink } from './quarantine.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { isWithin, nameOf, parentOf, type RawPath, toText } from './raw-path.ts';
import { newestOf } from './read-directory.ts';
import type { Runs } from './runs.ts';
import { findStrayKey, isHarmlessGitDir, mayStay, programsInTodo, worktreeNamedBy } from './verdict.ts';
import type { KnownDanger, WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds within which a file may change again without a new ctime: the kernel's clock ticks every 10 ms at most. */
const TICK_MS = 20;

/** Milliseconds after a change within which git may be in the middle of writing something, on a busy machine too. */
const BEING_MADE_MS = 5_000;
const JUDGED_BY_CONTENT: ReadonlySet<DangerKind> = new Set([
  ...(['pointer', 'config', 'commondir', 'gitdir', 'hooks', 'remotes', 'state', 'paths'] as const),
]);

export interface JudgeParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  /** Whether a sandbox is being built with this path mounted: an empty file or directory there may be bubblewrap's. */
  readonly isBeingBuilt: (path: RawPath) => boolean;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called often during long work, so that others need not wait. */
  readonly pause: () => void;
}

/** Decides whether a dangerous path that the search found may stay, and moves it aside if not. */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #access: Access;
  /** The new names of paths that were moved aside. Their ctimes lie within the run. */
  readonly #setAside = new Set<RawPath>();
  /** Inodes that were moved aside. The move gave them a ctime after the run, which their other names share. */
  readonly #moved = new Set<string>();
  #failure: ContextdError | null = null;

  constructor(parts: JudgeParts, access: Access) {
    this.#parts = parts;
    this.#access = access;
  }

  /** Whether this is the new name of something that was moved aside. */
  isSetAside(path: RawPath): boolean {
    return this.#setAside.has(path);
  }

  /** Returns, once, the error that kept a dangerous path from being moved aside. */
  takeFailure(): ContextdError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  /**
   * Accepts a dangerous path or moves it aside. It stays if no run can have made or changed it, if it is what was accepted
   * before, if it was only moved, or if it is in a git directory and its content is harmless. `isFresh`: a run may have made
   * or moved the directory around it, so its ctime proves nothing.
   */
  decide(path: RawPath, kind: DangerKind, isFresh: boolean): void {
    this.#decideHere(path, kind, isFresh);
    for (const gitDir of this.#parts.index.takeNewlyPointedAt()) {
      for (const danger of gitDangersIn(gitDir)) this.decide(danger.path, danger.kind, isFresh);
    }
  }

  #decideHere(path: RawPath, kind: DangerKind, isFresh: boolean): void {
    const { index, runs, ledger, clock, pause } = this.#parts;
    pause();
    const readAtMs = clock.now();
    const [stats, exact] = [this.#access.stat(path), this.#access.exactStat(path)];
    if (stats === 'closed') return;
    if (stats === null || exact === null || this.#isHarmlessNow(path, kind, stats)) {
      index.removeDanger(path);
      return;
    }
    const identity = identityOf(exact);
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const known = index.dangers.get(path);
    const isKnown = known?.identity === identity;
    const lead = this.#leadOf(path, kind);
    // With other hashes, git reads the same bytes of an index as other paths.
    const target = kind === 'paths' ? objectFormatOf(parentOf(path)) : (lead?.target ?? null);
    let madeAtMs = known?.madeAtMs;
    const accept = (stamp: number, programs?: readonly string[]): void => {
      if (kind === 'pointer' || kind === 'commondir') index.point(path, target);
      const danger = { kind, identity, link, stamp, target, madeAtMs };
      index.accept(path, { ...danger, ...(programs === undefined ? {} : { programs }) });
    };
    const isRedirected = isKnown && known.target !== undefined && known.target !== target;
    if (!isRedirected && runs.areAllShutOut(path, identity)) {
      accept(isKnown ? known.stamp : Number.NaN);
      return;
    }
    const isSuspect = (ctimeMs: number) => !isKnown && (isFresh || runs.mayHaveStamped(ctimeMs));
    const newest = newestOf(path, stats, isSuspect, pause);
    const isUnchanged = isKnown && (link === null ? known.stamp === newest.newestMs : known.link === link);
    const isOld = !newest.isSuspect && !this.mayBeRuns(stats, newest.newestMs);
    madeAtMs = JUDGED_BY_CONTENT.has(kind) || kind === 'name' ? this.#madeAt(path, known, stats, isFresh) : undefined;
    const mayChangeUnseen = runs.isAnyActive || isRecent(newest.newestMs, readAtMs);
    const programs = kind === 'state' ? programsInTodo(path) : undefined;
    const hasOnlyKnownPrograms = programs?.every((line) => known?.programs?.includes(line) === true) === true;
    if (
      isRedirected &&
      !(kind === 'config' || kind === 'paths' ? mayStay(kind, path, index) : this.#isHarmlessLead(lead))
    ) {
      this.#quarantineLead(path, identity, kind, lead);
    } else if (
      isUnchanged ||
      isOld ||
      runs.haveAllKept(identity) ||
      (known?.programs !== undefined && hasOnlyKnownPrograms) ||
      mayStay(kind, path, index)
    ) {
      accept(mayChangeUnseen ? Number.NaN : newest.newestMs, programs);
    } else if (ledger.accepts(path) && ledger.acceptsContent(path)) {
      // NaN: the content is compared again after each run, because a mapped file can change without a new ctime.
      accept(Number.NaN, programs);
    } else if (kind === 'name' && this.#isLikeRoots(path)) {
      accept(Number.NaN);
    } else if (this.#isBeingMade(path, kind, newest.newestMs, readAtMs)) {
      accept(Number.NaN, programs);
    } else {
      this.quarantine(path, identity, reasonFor(kind));
    }
  }

  /**
   * The newest ctime of what runs made and nobody else has changed since; otherwise undefined. In a directory that a run
   * moved it is the run's too: mounts keep a run from moving a person's repository.
   */
  #madeAt(path: RawPath, known: KnownDanger | undefined, stats: Stats, isFresh: boolean): number | undefined {
    const { runs, pause } = this.#parts;
    if (known === undefined ? !runs.canTell : known.madeAtMs === undefined) return undefined;
    const { newestMs } = newestOf(path, stats, () => false, pause);
    const isOfRuns = known?.madeAtMs === newestMs || (runs.canTell && (isFresh || this.mayBeRuns(stats, newestMs)));
    return isOfRuns ? newestMs : undefined;
  }

  /**
   * Whether it is a copy of what the project has at the same place, and no run could change the original: a worktree or a
   * clone has copies of the tracked `.vscode` and `.claude`. The original may hold more, for example files that git ignores.
   */
  #isLikeRoots(path: RawPath): boolean {
    return this.#originalsOf(path).some((original) => this.#isCopyOf(path, original));
  }

  /** What the project has, or may have, at the place that `path` has in its worktree or clone. */
  #originalsOf(path: RawPath): RawPath[] {
    const { index } = this.#parts;
    const place = path.slice(this.#topOf(path).length);
    return [index.roots[0] ?? '', ...index.companions]
      .map((root) => `${root}${place}`)
      .filter((original) => original !== path);
  }

  #isCopyOf(path: RawPath, original: RawPath): boolean {
    const [stats, exact] = [this.#access.stat(original), this.#access.exactStat(original)];
    if (exact === null || stats === null || stats === 'closed') return false;
    // A run of before, whose changes are still searched for, may have begun when nothing was there to mount.
    const { runs, pause } = this.#parts;
    const mayBeRuns = (ctimeMs: number) => runs.mayHaveStampedAt(original, identityOf(exact), ctimeMs);
    if (newestOf(original, stats, mayBeRuns, pause).isSuspect) return false;
    return isPartOf(path, original, (inside, text) =>
      leadsToProtected(inside === '' ? path : `${path}/${inside}`, text, this.#topOf(path)),
    );
  }

  /** The top of the worktree or clone that holds `path`; otherwise the directory of `path`. */
  #topOf(path: RawPath): RawPath {
    const { roots } = this.#parts.index;
    for (let dir = parentOf(path); roots.some((root) => isWithin(root, dir)); dir = parentOf(dir)) {
      const git = this.#access.stat(`${dir}/.git`);
      if (git !== null && git !== 'closed') return dir;
    }
    return parentOf(path);
  }

  /**
   * Whether git may be in the middle of making it: the search for an earlier run must not disturb `git worktree add`, which
   * writes copies of the project's settings one file after another. It is judged again when the run that makes it ends.
   */
  #isBeingMade(path: RawPath, kind: DangerKind, newestMs: number, nowMs: number): boolean {
    if (newestMs <= nowMs - BEING_MADE_MS || !this.#parts.runs.isOfActiveRuns(newestMs)) return false;
    if (JUDGED_BY_CONTENT.has(kind)) return true;
    return kind === 'name' && this.#originalsOf(path).some((original) => this.#access.exactStat(original) !== null);
  }

  /** Where a file leads git; null if it leads nowhere or is of another kind. */
  #leadOf(path: RawPath, kind: DangerKind): Lead | null {
    if (kind !== 'pointer' && kind !== 'commondir' && kind !== 'config') return null;
    try {
      if (kind === 'config') return worktreeNamedBy(path);
      return kind === 'pointer' ? gitDirNamedBy(path) : commonDirNamedBy(path);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Runs make nothing outside the workspace. */
  #isHarmlessLead(lead: Lead | null): boolean {
    const { index } = this.#parts;
    if (lead === null) return true;
    if (!index.roots.some((root) => isWithin(root, lead.target))) return lead.links.length === 0;
    return index.isGitDir(lead.target) || isHarmlessGitDir(lead.target, index);
  }

  /** Moves aside the link that a run redirected, if there is one; otherwise the file that leads through it. */
  #quarantineLead(path: RawPath, identity: string, kind: DangerKind, lead: Lead | null): void {
    const turned = lead?.links.find((link) => link !== path && !this.isOld(link));
    const exact = turned === undefined ? null : this.#access.exactStat(turned);
    if (turned === undefined || exact === null) this.quarantine(path, identity, reasonFor(kind));
    else this.quarantine(turned, identityOf(exact), reasonFor(kind));
  }

  /** Whether the mounts of some live run did not protect this path. */
  isOpen(path: RawPath): boolean {
    return !this.#parts.runs.areAllShutOut(path, null);
  }

  /** Whether something is there that no live run made, changed or moved there. */
  isOld(path: RawPath): boolean {
    const stats = this.#access.stat(path);
    return stats !== null && stats !== 'closed' && !this.mayBeRuns(stats, stats.ctimeMs);
  }

  findStray(file: RawPath): string | null {
    try {
      return findStrayKey(file);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Whether a live run may have made or changed a file with this ctime. */
  mayBeRuns(stats: Stats, ctimeMs: number): boolean {
    if (this.#parts.runs.mayHaveStamped(ctimeMs)) return true;
    return stats.isFile() && stats.nlink > 1 && this.#moved.has(inodeOf(stats));
  }

  /** Moves a path aside, logs it, and reports it to the runs that may have made it. */
  quarantine(path: RawPath, identity: string, reason: string): void {
    const { index, runs, ledger, logger, isBeingBuilt } = this.#parts;
    index.removeDanger(path);
    if (isBeingBuilt(path) && removeEmpty(path)) return;
    this.#change(path, () => {
      const stats = this.#access.exactStat(path);
      const moved = moveAside(path);
      if (moved === null) return;
      this.#setAside.add(moved);
      if (stats !== null) this.#moved.add(inodeOf(stats));
      runs.report(path, identity, ledger.note(path, moved, reason), Number(stats?.ctimeMs ?? Number.NaN));
      this.#exclude(moved);
      logger.warn('sandbox.quarantined', { path: toText(path), moved: toText(moved), reason });
    });
  }

  /** What git of the host does not see is not committed by accident. */
  #exclude(moved: RawPath): void {
    const { index, logger } = this.#parts;
    try {
      const gitDir = repositoryAt(moved, index.roots, (path) => index.isGitDir(path));
      if (gitDir !== null) excludeSetAside(gitDir);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      logger.warn('sandbox.not_excluded', { path: toText(moved), cause: String(cause) });
    }
  }

  /** Makes a protected link again after a run removed it. */
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

  /** A `.git` that became a directory is judged by its parts; `hooks` outside a repository is an ordinary name. */
  #isHarmlessNow(path: RawPath, kind: DangerKind, stats: Stats): boolean {
    const { index } = this.#parts;
    if (kind === 'name') return false;
    if (kind === 'pointer') return stats.isDirectory();
    if (kind === 'target') return !index.isTarget(path);
    if (kind === 'stray') return this.findStray(path) === null;
    if (kind === 'link') return !stats.isSymbolicLink();
    if (kind === 'directory' && !stats.isSymbolicLink()) return true;
    return !index.isGitDir(parentOf(path)) && !index.isGitDir(parentOf(parentOf(path)));
  }
}

/**
 * Whether a file that was read at `readAtMs` may have changed again without a new ctime. Take `readAtMs` before the read: a
 * process that is suspended between the read and the clock would take a recent change for an old one.
 */
export function isRecent(ctimeMs: number, readAtMs: number): boolean {
  return ctimeMs > readAtMs - TICK_MS;
}

function inodeOf({ dev, ino }: { dev: number | bigint; ino: number | bigint }): string {
  return `${dev}:${ino}`;
}

export function gitDangersIn(gitDir: RawPath): { path: RawPath; kind: DangerKind }[] {
  return [...GIT_DANGERS].map(([name, kind]) => ({ path: `${gitDir}/${name}`, kind }));
}
