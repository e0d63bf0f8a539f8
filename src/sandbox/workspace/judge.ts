import type { Stats } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Access } from './access.ts';
import { commonDirNamedBy, gitDirNamedBy } from './git-dir.ts';
import { exactStatAt, identityOf, linkTextAt } from './inode.ts';
import type { Lead } from './lead.ts';
import { type DangerKind, GIT_DANGERS } from './protected-names.ts';
import { moveAside, removeEmpty, restoreLink } from './quarantine.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { reasonFor } from './quarantine-reasons.ts';
import { isWithin, nameOf, parentOf, type RawPath, toText } from './raw-path.ts';
import { newestOf } from './read-directory.ts';
import type { Runs } from './runs.ts';
import { findStrayKey } from './stray-config.ts';
import { isHarmlessGitDir, mayStay, runsInSheet, worktreeNamedBy } from './verdict.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds: what changed so recently may change again within one tick of the kernel, and its time would not tell. */
const TICK_MS = 20;

export interface JudgeParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  /** Where sandboxes are being built at this moment: an empty file or directory there may be bubblewrap's. */
  readonly building: ReadonlyMap<RawPath, number>;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Decides what happens to something dangerous that the search found, and does it. */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #access: Access;
  /** What was moved aside, under its new name, which bears a time of the run. */
  readonly #setAside = new Set<RawPath>();
  /** Inodes that were moved aside: the move gave them a time after the run, under their other names too. */
  readonly #moved = new Set<string>();
  #failure: ContextdError | null = null;

  constructor(parts: JudgeParts, access: Access) {
    this.#parts = parts;
    this.#access = access;
  }

  /** Whether this is something moved aside, under its new name. */
  isSetAside(path: RawPath): boolean {
    return this.#setAside.has(path);
  }

  /** What kept something dangerous from being moved away, once. */
  takeFailure(): ContextdError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  /**
   * Accepts what is there, or moves it aside: it stays when no run can have made or changed it, when it is what was
   * accepted before, when it was only moved, and, in a git directory, when its content is harmless.
   */
  *decide(path: RawPath, kind: DangerKind, isFresh: boolean): Generator<void, void> {
    yield* this.#judgeHere(path, kind, isFresh);
    for (const gitDir of this.#parts.index.takeNewlyPointedAt()) {
      for (const danger of gitDangersIn(gitDir)) yield* this.decide(danger.path, danger.kind, isFresh);
    }
  }

  *#judgeHere(path: RawPath, kind: DangerKind, isFresh: boolean): Generator<void, void> {
    const { index, runs, ledger, clock } = this.#parts;
    const readAt = clock.now();
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
    const isOld = !newest.isSuspect && !this.mayBeRuns(stats, newest.newestMs);
    const mayChangeUnseen = runs.isAnyActive || isRecent(newest.newestMs, readAt);
    const stamp = mayChangeUnseen ? Number.NaN : newest.newestMs;
    const sheet = kind === 'state' ? runsInSheet(path) : undefined;
    if (isRedirected && !(kind === 'config' ? mayStay(kind, path, index) : this.#isHarmlessLead(lead)))
      return this.#quarantineLead(path, identity, kind, lead);
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
    if (kind !== 'pointer' && kind !== 'commondir' && kind !== 'config') return null;
    try {
      if (kind === 'config') return worktreeNamedBy(path);
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
    const turned = lead?.links.find((link) => link !== path && !this.isOld(link));
    const exact = turned === undefined ? null : this.#access.exactStat(turned);
    if (turned === undefined || exact === null) this.quarantine(path, identity, reasonFor(kind));
    else this.quarantine(turned, identityOf(exact), reasonFor(kind));
  }

  /** Whether some run that is not settled can have changed it where it is. */
  isOpen(path: RawPath): boolean {
    return !this.#parts.runs.areAllShutOut(path, null);
  }

  /** Whether something is there that no run made, changed or put there. */
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

  /** Whether a run may have made or changed it, which bears this time. */
  mayBeRuns(stats: Stats, ctimeMs: number): boolean {
    if (this.#parts.runs.mayHaveStamped(ctimeMs)) return true;
    return stats.isFile() && stats.nlink > 1 && this.#moved.has(inodeOf(stats));
  }

  /** Moves it aside and says so, in the log and to the runs that may have made it. */
  quarantine(path: RawPath, identity: string, reason: string): void {
    const { index, runs, ledger, logger, building } = this.#parts;
    index.removeDanger(path);
    if (building.has(path) && removeEmpty(path)) return;
    this.#change(path, () => {
      const stats = this.#access.exactStat(path);
      const moved = moveAside(path);
      if (moved === null) return;
      this.#setAside.add(moved);
      if (stats !== null) this.#moved.add(inodeOf(stats));
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

  /** A `.git` that became a directory is judged by its content; without a repository around it, a part of one is a file. */
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
 * Whether something that was read at `readAtMs` may have changed since without a new ctime. `readAtMs` is taken before
 * the read: a process that is paused between its read and its clock would take a recent change for an old one.
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
