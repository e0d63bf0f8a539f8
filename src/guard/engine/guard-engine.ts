import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { compareLink } from '../../fs/file-access.ts';
import { whenSettled } from '../../fs/file-time.ts';
import { compileGlobs } from '../../fs/glob.ts';
import { isWithin, type RawPath, toRaw } from '../../fs/raw-path.ts';
import type { Answer } from '../contract/messages.ts';
import type { Moment } from '../contract/moment.ts';
import type { Person } from '../contract/person.ts';
import type { Cover, Protection } from '../contract/protection.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../contract/quarantine.ts';
import { findCommonGitDir } from '../git/git-dir.ts';
import { type Run, Runs } from '../index/runs.ts';
import { WorkspaceIndex } from '../index/workspace-index.ts';
import { QuarantineActions } from '../quarantine/actions.ts';
import type { QuarantineLedger } from '../quarantine/ledger.ts';
import { Scan } from '../search/scan.ts';
import { Search } from '../search/search.ts';
import { REPLACED_LINK } from '../table/protected-names.ts';
import { planProtection } from './plan-mounts.ts';
import { FOREGROUND_MS, Reports } from './reports.ts';
import { Survey } from './survey.ts';
import { Targets } from './targets.ts';
import { Walks } from './walks.ts';

/** Milliseconds for finding new entries at the root before a sandbox starts. */
const GLANCE_MS = 1;

export interface GuardEngineDeps {
  /** Absolute real path. */
  readonly workspace: string;
  /** Deny globs. */
  readonly deny: readonly string[];
  /** The person whose programs run on the host. */
  readonly person: Person;
  /** Absolute paths of contextd's own directories. Sandboxes write some of their contents. */
  readonly ownDirectories: readonly string[];
  /** Ledger of the workspace, shared by all its engines. */
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called before a decision about a file: processes run starts and ends that the main thread has sent. */
  readonly catchUp: () => void;
  /** Called often during long work. Must call `answerReports`; may call any other method. */
  readonly pause: () => void;
  /** Called when everything that an ended run may have changed has been searched. */
  readonly onSettled: (run: Run) => void;
  /** Called for each path that was moved away during the run that created it. Default: no-op. */
  readonly onFound?: (run: Run, found: SetAside) => void;
}

/**
 * Protects one workspace. Plans the mounts of each sandbox, and after each run searches for files of the run that a
 * program on the host would run or trust. Such files are moved into the ledger's store and recorded there.
 *
 * - The first walk finds directories, repositories, protected names and matches of the deny globs. It follows no links
 *   and crosses no mount points. A sandbox waits for at most 1,000,000 entries; the rest is read in the background.
 * - After each run, directories with a new ctime are read again, with new directories below them. Then the files of all
 *   other directories are checked, because writing a file in place does not change its directory. Beyond 200,000
 *   directories, the others are read again after every run.
 * - A report is incomplete while this goes on (except for the files), and if a path is longer than 16 KiB.
 * - Always mounted read-only: protected names at the root; every repository, including nested ones and worktrees; paths
 *   that the person's git configuration and hooks run. If there are too many, only the oldest nested repositories are
 *   mounted, and of other nested names only the 64 shallowest outside node_modules; the search after the run covers the
 *   rest.
 *
 * The next sandbox knows about files that a person creates on the host at the root, directly below it, or in a known
 * repository. Elsewhere they become known when the next run has ended; until then they are neither protected nor
 * hidden. They are not attributed to a run unless they were created or changed during that run.
 *
 * Works without interruption on one thread. During long work `pause` lets other requests in.
 */
export class GuardEngine {
  readonly runs: Runs;
  readonly #deps: GuardEngineDeps;
  readonly #index: WorkspaceIndex;
  readonly #scan: Scan;
  readonly #survey: Survey;
  readonly #targets: Targets;
  readonly #search: Search;
  readonly #actions: QuarantineActions;
  /** Path → number of sandboxes being built with it mounted. */
  readonly #building = new Map<RawPath, number>();
  readonly #reports: Reports;
  readonly #walks: Walks;
  #enclosingGitDir: string | null = null;
  #isClosed = false;

  /** Throws SCHEMA_INVALID for an invalid deny glob. */
  constructor(deps: GuardEngineDeps) {
    const { ledger, logger, clock, pause, catchUp } = deps;
    const workspace = toRaw(deps.workspace);
    this.#deps = deps;
    this.runs = new Runs(clock, workspace, catchUp, deps.onFound);
    const index = new WorkspaceIndex(workspace);
    const shared = { index, runs: this.runs, ledger, logger, clock, pause };
    this.#index = index;
    this.#index.ownDirectories = deps.ownDirectories.map(toRaw);
    this.#scan = new Scan({
      ...shared,
      globs: compileGlobs(deps.deny),
      isBeingBuilt: (path) => {
        catchUp();
        return this.#building.has(path);
      },
    });
    this.#survey = new Survey(index, ledger, pause);
    const targets = new Targets(index, deps.person);
    const search = new Search({
      index,
      clock,
      logger,
      scan: this.#scan,
      answerReports: () => this.#reports.answerDue(),
    });
    this.#targets = targets;
    this.#search = search;
    this.#walks = new Walks({ workspace: deps.workspace, index, targets, search, logger, clock });
    this.#reports = new Reports({ index, runs: this.runs, search, mover: this.#scan.mover, clock });
    this.#actions = new QuarantineActions(shared);
  }

  /**
   * The mounts for a sandbox that starts now. Costs a fixed number of lstats. The first request waits for the walk, and
   * a request that finds a hidden file gone waits until the search has found its new place. Rejects with
   * SANDBOX_UNAVAILABLE if the workspace cannot be protected, PATH_NOT_FOUND if it does not exist.
   */
  protection(answer: Answer<Protection>): void {
    try {
      const protection = this.#findProtection(answer);
      if (protection === null) return;
      // A file created just before a run would look as if the run had created it.
      whenSettled(this.#index.youngestMadeMs, this.#deps.clock, () => answer.resolve(protection));
    } catch (cause) {
      answer.reject(cause);
    }
  }

  /**
   * Call before a run. `at`: before its sandbox could change anything. End it with `finish`, or with `runs.settle` if
   * it never started.
   */
  begin(cover: Cover, at: Moment, isSearched: boolean): Run {
    return this.runs.begin(cover, at, isSearched);
  }

  /** Resumes a run that a crashed thread was searching for. `ended`: null if the run still goes on. */
  resume(cover: Cover, began: Moment, ended: Moment | null, isSearched: boolean): Run {
    const run = this.runs.begin(cover, began, isSearched);
    this.#index.hasMemory = this.#walks.isWalked;
    if (ended === null) return run;
    this.runs.end(run, ended);
    // Its report was lost in the crash: the next report includes the finds.
    run.isReported = true;
    this.#searchFor(run);
    this.#search.whenDone(() => {});
    return run;
  }

  /**
   * Call when the sandbox is dead, after `runs.end`: moves away dangerous paths that the run created. Answers after at
   * most about 20 ms, or 80 ms if the run changed many directories, but not before the first steps of the search. The
   * search continues in the background, and the next report includes its finds. Rejects with INTERNAL_ERROR if a
   * dangerous file could not be moved.
   */
  finish(run: Run, answer: Answer<QuarantineReport>): void {
    try {
      const startedAtMs = this.#deps.clock.monotonic();
      for (const root of this.#index.roots) this.#scan.openIfClosed(root);
      this.#searchFor(run);
      this.#reports.add(run, answer, startedAtMs);
      this.#checkLinks(run);
      this.#judgeLeft(run);
      this.#search.lookFirst(FOREGROUND_MS / 2);
      this.#search.work(0);
    } catch (cause) {
      this.#reports.drop(run);
      answer.reject(cause);
    }
  }

  /** During runs: moves away dangerous paths created so far. Answers when everything has been searched. */
  search(answer: Answer<null>): void {
    if (!this.#walks.isWalked && !this.#walks.isWalking) this.#walks.first(() => {});
    for (const run of this.runs.active) this.#checkLinks(run);
    this.#searchAgain(() => answer.resolve(null));
  }

  /** Answers every report that is due; all of them if the search is done. Returns whether any still wait. */
  answerReports(): boolean {
    return this.#reports.answerDue();
  }

  /** Continues a search that a caller waits for, for at most `milliseconds`, unless this engine is already working. */
  workIfAwaited(milliseconds: number): void {
    if (this.#search.isAwaited) this.#search.work(milliseconds);
  }

  /**
   * `change`: 1 before a sandbox is built with these paths mounted, -1 afterwards. If a mounted path disappears
   * meanwhile, bubblewrap creates an empty one in its place, which must not be attributed to a run.
   */
  markBuilding(paths: readonly string[], change: 1 | -1): void {
    for (const path of paths.map(toRaw)) {
      const count = (this.#building.get(path) ?? 0) + change;
      if (count > 0) this.#building.set(path, count);
      else this.#building.delete(path);
    }
  }

  /** Sets the other trees that the same commands write, each with its own guard: worktrees may lead there. */
  setCompanions(trees: readonly string[]): void {
    this.#index.companions = trees.map(toRaw);
  }

  /** Sets places outside the trees that commands can read but not write. */
  setReadOnly(places: readonly string[]): void {
    this.#index.readOnlyPlaces = places.map(toRaw);
  }

  /** Sets the git directory of the repository around the workspace, which commands may use. */
  setEnclosing(gitDir: string): void {
    this.#enclosingGitDir = gitDir;
  }

  /** Acts on quarantined files for a person. Rejects with PATH_NOT_FOUND and CONFLICT. */
  quarantine(action: QuarantineAction, answer: Answer<QuarantineResult>): void {
    this.#actions.carryOut(action, answer);
  }

  /** Calls `onDone` when the background work is done. */
  whenSettled(onDone: () => void): void {
    this.#search.whenDone(onDone);
  }

  /** Stops the background search and refuses further sandboxes. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#search.close();
    this.#walks.end(stopping());
  }

  /** Null if a search must come first; the request is then answered when it ends. */
  #findProtection(answer: Answer<Protection>): Protection | null {
    if (this.#isClosed) throw stopping();
    const again = () => this.protection(answer);
    const afterWalk = (failure: ContextdError | null) => (failure === null ? again() : answer.reject(failure));
    if (!this.#walks.isWalked || this.#walks.isWalking) {
      this.#walks.first(afterWalk);
      return null;
    }
    const commonGitDir = this.#ownCommonGitDir();
    const enclosingGitDir = this.#enclosingGitDir;
    const newRoot = [commonGitDir, enclosingGitDir].find((dir) => dir !== null && this.#index.addRoot(toRaw(dir)));
    if (typeof newRoot === 'string') {
      this.#walks.root(newRoot, afterWalk);
      return null;
    }
    this.#search.glance(GLANCE_MS);
    if (this.#haveNewRelativeTargets()) {
      this.#index.directories.markAllChanged();
      this.#searchAgain(again);
      return null;
    }
    const { hidden, vanished } = this.#survey.findHidden();
    if (vanished) {
      this.#searchAgain(again);
      return null;
    }
    const gitDirs = { commonGitDir, enclosingGitDir };
    return planProtection(this.#survey.findProtected(), hidden, gitDirs, (path) => this.#index.rootOf(path));
  }

  /** Common git directory of a worktree, unless another guard protects it. */
  #ownCommonGitDir(): string | null {
    const found = findCommonGitDir(this.#deps.workspace);
    return found !== null && this.#index.companions.some((tree) => isWithin(tree, toRaw(found))) ? null : found;
  }

  #searchAgain(onDone: () => void): void {
    this.#search.start(() => {});
    this.#search.whenDone(onDone);
  }

  /** A new setting that names a path relative to every worktree requires reading every directory again. */
  #haveNewRelativeTargets(): boolean {
    const before = this.#index.relativeTargets;
    this.#targets.refresh();
    return this.#index.relativeTargets !== before;
  }

  #searchFor(run: Run): void {
    if (!this.#walks.isWalked && !this.#walks.isWalking) this.#walks.first(() => {});
    this.#search.start(() => {
      this.runs.settle(run);
      this.#deps.onSettled(run);
    });
  }

  /** Mounts cannot protect links. A link that was replaced is put back; one that now points elsewhere is moved away. */
  #checkLinks(run: Run): void {
    for (const [path, before] of run.cover.links) {
      if (run.ended === null && run.setAside.has(path)) continue;
      const change = compareLink(path, before);
      if (change.kind === 'none') continue;
      if (change.kind !== 'gone') this.#scan.mover.quarantine(path, change.identity, REPLACED_LINK);
      if (change.kind !== 'redirected') this.#scan.mover.putBack(path, before.text);
    }
  }

  /** Judges paths whose decision was postponed to the end of the run. */
  #judgeLeft({ left }: Run): void {
    for (const path of left) {
      const danger = this.#index.dangers.get(path);
      if (danger !== undefined) this.#scan.judge.decide(path, danger.kind, false);
    }
  }
}

function stopping(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
}
