import type { Stats } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import { identityOf, linkTextAt } from '../../fs/file-access.ts';
import { earliestFileTime, mayChangeUnseen } from '../../fs/file-time.ts';
import { isWithin, parentOf, type RawPath } from '../../fs/raw-path.ts';
import { isSpecial, newestOf } from '../../fs/read-directory.ts';
import { commonDirNamedBy, gitDirNamedBy, type Lead, objectFormatOf } from '../git/git-dir.ts';
import { connectsUnasked, gitDirAround, isHarmlessGitDir, mayStay, programsIn } from '../git/judgement.ts';
import { alternatesNamedBy, ConfigLeads } from '../git/leads.ts';
import { GitLocks } from '../git/locks.ts';
import { findStrayKey } from '../git/stray-key.ts';
import type { Access } from '../index/access.ts';
import type { KnownDanger, WorkspaceIndex } from '../index/workspace-index.ts';
import { CONNECTS, type DangerKind, GIT_DANGERS, reasonFor } from '../table/protected-names.ts';
import { exitAt, mayLeave } from './exits.ts';
import type { Mover, MoverParts } from './mover.ts';
import { Originals } from './originals.ts';

/** Milliseconds after a change within which git may be in the middle of writing something, on a busy machine too. */
const BEING_MADE_MS = 5_000;
const JUDGED_BY_CONTENT: ReadonlySet<DangerKind> = new Set([
  ...(['pointer', 'config', 'commondir', 'gitdir', 'hooks', 'remotes', 'state', 'paths', 'checked'] as const),
  'alternates',
]);
/** Kinds of files in which a person may name any place of the machine. */
const LEADS_ANYWHERE: ReadonlySet<DangerKind> = new Set(['config', 'alternates']);

export interface JudgeParts extends MoverParts {
  readonly clock: Clock;
}

/** Decides whether a dangerous path that the search found may stay, and moves it aside if not. */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #access: Access;
  readonly #locks: GitLocks;
  readonly #configLeads: ConfigLeads;
  readonly #originals: Originals;
  readonly #mover: Mover;

  constructor(parts: JudgeParts, access: Access, mover: Mover) {
    this.#parts = parts;
    this.#access = access;
    this.#mover = mover;
    this.#originals = new Originals(parts, access);
    this.#configLeads = new ConfigLeads(parts.index);
    this.#locks = new GitLocks(parts.clock, (path) => isInTrees(path, parts.index));
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
    if (kind === 'exit') {
      this.#decideExit(path, isFresh);
      return;
    }
    const { index, runs, ledger, clock, pause } = this.#parts;
    pause();
    const readAtMs = earliestFileTime(clock);
    const [stats, exact] = [this.#access.stat(path), this.#access.exactStat(path)];
    if (stats === 'closed') return;
    if (stats === null || exact === null || this.#isHarmlessNow(path, kind, stats)) {
      index.removeDanger(path);
      return;
    }
    const identity = identityOf(exact);
    if (kind === 'lock') {
      this.#decideLock(path, identity, stats, isFresh);
      return;
    }
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const known = index.dangers.get(path);
    // A part of a directory may be seen before the search sees that a run made a repository of the directory.
    const isSeenTooEarly = isFresh && known?.seenAtMs !== undefined && runs.hadBegun(known.seenAtMs);
    const isKnown = known?.identity === identity && !isSeenTooEarly;
    const lead = this.#leadOf(path, kind);
    // With other hashes, git reads the same bytes of an index as other paths.
    const target = kind === 'paths' ? objectFormatOf(parentOf(path)) : (lead?.target ?? null);
    let madeAtMs = known?.madeAtMs;
    const accept = (stamp: number, programs?: readonly string[]): void => {
      if (kind === 'pointer' || kind === 'commondir') index.point(path, target);
      const seenAtMs = isKnown ? known.seenAtMs : readAtMs;
      const danger = { kind, identity, link, stamp, target, madeAtMs, seenAtMs };
      const isSame = isKnown && known.stamp === stamp;
      const checked =
        kind === 'checked' ? { isHarmless: (isSame && known.isHarmless) || mayStay(kind, path, index) } : {};
      const kept = programs ?? (isKnown ? known.programs : undefined);
      index.accept(path, { ...danger, ...checked, ...(kept === undefined ? {} : { programs: kept }) });
    };
    const isRedirected = isKnown && known.target !== undefined && known.target !== target;
    const isShutOut = runs.areAllShutOut(path, identity);
    if (!isRedirected && isShutOut) {
      accept(isKnown ? known.stamp : Number.NaN);
      return;
    }
    const isSuspect = (ctimeMs: number) => !isKnown && (isFresh || runs.mayHaveStamped(ctimeMs));
    const newest = newestOf(path, stats, isSuspect, pause);
    const isUnchanged = isKnown && (link === null ? known.stamp === newest.newestMs : known.link === link);
    const isOld = !newest.isSuspect && !this.mayBeRuns(stats, newest.newestMs);
    madeAtMs = JUDGED_BY_CONTENT.has(kind) || kind === 'name' ? this.#madeAt(path, known, stats, isFresh) : undefined;
    const isUnsettled = runs.isAnyActive || mayChangeUnseen(newest.newestMs, readAtMs);
    const programs = isUnchanged && known?.programs !== undefined ? known.programs : programsIn(kind, path, index);
    const hasOnlyKnownPrograms = programs?.every((line) => known?.programs?.includes(line) === true) === true;
    // What a person wrote may lead anywhere, also when something outside of the project changes. No run writes where it is shut
    // out: contextd does, which carries over what the run may change.
    const isPersons = isShutOut || (isOld && madeAtMs === undefined);
    const isOwn = LEADS_ANYWHERE.has(kind) && isPersons && this.#turnedOn(path, lead) === null;
    if (isRedirected && !isOwn && !this.#isHarmlessTurn(path, kind, lead)) {
      this.#quarantineLead(path, identity, kind, lead);
    } else if (
      isUnchanged ||
      isOld ||
      runs.haveAllKept(identity) ||
      (known?.programs !== undefined && hasOnlyKnownPrograms) ||
      mayStay(kind, path, index)
    ) {
      accept(isUnsettled ? Number.NaN : newest.newestMs, programs);
    } else if (ledger.accepts(path) && ledger.acceptsContent(path)) {
      // NaN: the content is compared again after each run, because a mapped file can change without a new ctime.
      accept(Number.NaN, programs);
    } else if ((kind === 'name' || kind === 'checked') && this.isCopy(path)) {
      accept(Number.NaN);
    } else if (
      this.#isBeingMade(path, kind, newest.newestMs, readAtMs) ||
      runs.leaveUntilEnd(path, identity, newest.newestMs)
    ) {
      // What it runs is not known yet: this is no judgement.
      accept(Number.NaN);
    } else {
      this.#mover.quarantine(path, identity, this.#reasonFor(path, kind));
    }
  }

  /**
   * Judges where a link outside of git directories leads. What a run made is judged again after each run: a link on its way
   * may have changed. Nothing is known of a link that leads into the project and cannot turn: the link that would turn it is
   * judged itself.
   */
  #decideExit(path: RawPath, isFresh: boolean): void {
    const { index, runs, ledger } = this.#parts;
    const stats = this.#access.stat(path);
    const known = index.dangers.get(path);
    if (stats === 'closed') return;
    const isNew = stats?.isSymbolicLink() === true && (isFresh || this.mayBeRuns(stats, stats.ctimeMs));
    if (known === undefined && !(isNew && mayLeave(path, index))) return;
    const exact = this.#access.exactStat(path);
    const identity = exact === null ? '' : identityOf(exact);
    const isKnown = known?.identity === identity;
    if (isKnown && known.madeAtMs === undefined) return;
    if (stats === null || !(isKnown || isNew) || runs.areAllShutOut(path, identity)) {
      index.removeDanger(path);
      return;
    }
    const { kind, reason, mayTurn } = exitAt(path, index);
    const isAccepted = reason !== '' && ledger.accepts(path) && ledger.acceptsContent(path);
    if (kind === 'writable' && !isAccepted) {
      this.#mover.quarantine(path, identity, reason);
      return;
    }
    if (kind === 'outside' && !isAccepted && (!isKnown || known.target !== reason))
      this.#mover.report(path, identity, reason);
    if (kind === 'inside' && !mayTurn) index.removeDanger(path);
    else {
      const danger = { kind: 'exit', identity, link: linkTextAt(path), stamp: stats.ctimeMs, target: reason } as const;
      index.accept(path, { ...danger, madeAtMs: stats.ctimeMs });
    }
  }

  /**
   * A lock stays if no run can have made it, and as long as a run that goes on or a program of the host may hold it. Otherwise
   * its git is dead: a git that is killed leaves its locks.
   */
  #decideLock(path: RawPath, identity: string, stats: Stats, isFresh: boolean): void {
    const { index, runs } = this.#parts;
    const { ctimeMs } = stats;
    const isKnown = index.dangers.get(path)?.madeAtMs === ctimeMs;
    const mayBeRuns = isFresh || this.mayBeRuns(stats, ctimeMs);
    const isOfRuns = isKnown || (runs.canTell && mayBeRuns && !runs.areAllShutOut(path, identity));
    if (!isOfRuns || runs.mayBeOfActiveRun(ctimeMs) || this.#locks.mayBeHeld(path, ctimeMs, runs.begun)) {
      const madeAtMs = isOfRuns ? ctimeMs : undefined;
      index.accept(path, { kind: 'lock', identity, link: null, stamp: Number.NaN, madeAtMs });
    } else if (stats.isDirectory()) this.#mover.quarantine(path, identity, reasonFor('lock'));
    else this.#mover.remove(path, identity, 'lock');
  }

  #reasonFor(path: RawPath, kind: DangerKind): string {
    return kind === 'config' && connectsUnasked(path, this.#parts.index) ? CONNECTS : reasonFor(kind);
  }

  #isHarmlessTurn(path: RawPath, kind: DangerKind, lead: Lead | null): boolean {
    if (kind === 'paths' || LEADS_ANYWHERE.has(kind)) return mayStay(kind, path, this.#parts.index);
    return this.#isHarmlessLead(lead);
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

  /** Whether it is a copy of what the project has at the same place. */
  isCopy(path: RawPath): boolean {
    return this.#originals.hasCopyAt(path);
  }

  /**
   * Whether git may be in the middle of making it: the search for an earlier run must not disturb `git worktree add`, which
   * writes copies of the project's settings one file after another. It is judged again when the run that makes it ends.
   */
  #isBeingMade(path: RawPath, kind: DangerKind, newestMs: number, nowMs: number): boolean {
    if (newestMs <= nowMs - BEING_MADE_MS || !this.#parts.runs.isOfActiveRuns(newestMs)) return false;
    if (JUDGED_BY_CONTENT.has(kind)) return true;
    return kind === 'name' && this.#originals.isExpectedAt(path);
  }

  /** Where a file leads git; null if it leads nowhere or is of another kind. Several targets count as one. */
  #leadOf(path: RawPath, kind: DangerKind): Lead | null {
    try {
      if (kind === 'config') return allOf(this.#configLeads.leadsOf(path));
      if (kind === 'alternates') return allOf(alternatesNamedBy(path) ?? []);
      if (kind === 'pointer') return gitDirNamedBy(path);
      return kind === 'commondir' ? commonDirNamedBy(path) : null;
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
    const turned = this.#turnedOn(path, lead);
    const exact = turned === null ? null : this.#access.exactStat(turned);
    if (turned === null || exact === null) this.#mover.quarantine(path, identity, reasonFor(kind));
    else this.#mover.quarantine(turned, identityOf(exact), reasonFor(kind));
  }

  /** The first link on a way that a live run made or changed. Runs make nothing outside of the trees. */
  #turnedOn(path: RawPath, lead: Lead | null): RawPath | null {
    const { index } = this.#parts;
    return lead?.links.find((link) => link !== path && isInTrees(link, index) && !this.isOld(link)) ?? null;
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
    return stats.isFile() && stats.nlink > 1 && this.#mover.hasMoved(stats);
  }

  /** A `.git` that became a directory is judged by its parts; `hooks` outside a repository is an ordinary name. */
  #isHarmlessNow(path: RawPath, kind: DangerKind, stats: Stats): boolean {
    const { index } = this.#parts;
    if (kind === 'name') return false;
    if (kind === 'checked') return stats.isDirectory();
    if (kind === 'pointer') return stats.isDirectory();
    if (kind === 'target') return !index.isTarget(path);
    if (kind === 'stray') return this.findStray(path) === null;
    if (kind === 'link') return !stats.isSymbolicLink();
    if (kind === 'special') return !isSpecial(stats);
    if (kind === 'lock') return gitDirAround(path, index) === null;
    if (kind === 'alternates') return !index.isGitDir(parentOf(parentOf(parentOf(path))));
    if (kind === 'directory' && !stats.isSymbolicLink()) return true;
    return !index.isGitDir(parentOf(path)) && !index.isGitDir(parentOf(parentOf(path)));
  }
}

/** All leads as one: it changes if one of them does. Null if nothing leads anywhere. */
function allOf(leads: readonly (Lead | null)[]): Lead | null {
  const found = leads.filter((lead) => lead !== null);
  if (found.length === 0) return null;
  const target = found.map((lead) => lead.target).join('\0');
  return { target, exists: found.every(({ exists }) => exists), links: found.flatMap(({ links }) => links) };
}

function isInTrees(path: RawPath, { roots, companions }: WorkspaceIndex): boolean {
  return [...roots, ...companions].some((tree) => isWithin(tree, path));
}

export function gitDangersIn(gitDir: RawPath): { path: RawPath; kind: DangerKind }[] {
  return [...GIT_DANGERS].map(([name, kind]) => ({ path: `${gitDir}/${name}`, kind }));
}
