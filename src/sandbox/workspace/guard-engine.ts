import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import { compareLink } from './file-access.ts';
import { findCommonGitDir } from './git-dir.ts';
import { compileGlobs } from './glob.ts';
import type { Answer } from './guard-messages.ts';
import { planProtection } from './plan-mounts.ts';
import { REPLACED_LINK } from './protected-names.ts';
import type { Cover, Protection } from './protection.ts';
import { QuarantineActions } from './quarantine-actions.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { isWithin, type RawPath, toRaw } from './raw-path.ts';
import { type Moment, REPORTED_MAX, type Run, Runs } from './runs.ts';
import { Scan } from './scan.ts';
import { Search } from './search.ts';
import { Survey } from './survey.ts';
import { type Person, Targets } from './targets.ts';
import { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds for which a report waits for the search: enough for some 5,000 directories. */
const FOREGROUND_MS = 20;
/** Additional milliseconds for which a report waits while directories that the run changed, or most likely changed, are searched. */
const CHANGED_MS = 60;
/** Milliseconds for finding what is new at the root before a sandbox starts. */
const GLANCE_MS = 1;

export interface GuardEngineDeps {
  /** Absolute real path. */
  readonly workspace: string;
  /** Deny globs. */
  readonly deny: readonly string[];
  /** The person whose programs run on the host. */
  readonly person: Person;
  /** The ledger of the workspace, which all its engines share. */
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Takes in runs that another thread began or ended, before a decision about a file. */
  readonly catchUp: () => void;
  /** Called often during long work. Must call `answerReports`; may call any other method. */
  readonly pause: () => void;
  /** Called when everything that an ended run may have changed has been searched. */
  readonly onSettled: (run: Run) => void;
  /** Called for each path that was moved aside while the run that made it goes on. Default: nothing. */
  readonly onFound?: (run: Run, found: SetAside, isAgain: boolean) => void;
}

interface AwaitedReport {
  readonly run: Run;
  readonly answer: Answer<QuarantineReport>;
  /** On the monotonic clock, when it is answered even if the search goes on. */
  readonly dueAtMs: number;
}

/**
 * Protects one workspace. It plans the mounts of each sandbox, and after each run it searches for files that the run made and
 * that would make a program on the host run or trust something. Such a file is renamed to `<name>.quarantined-<id>` and noted
 * in the ledger; renaming it back accepts it.
 *
 * - The first walk finds directories, repositories, protected names and matches of the deny globs. It follows no link and
 *   crosses no mount point. A sandbox waits for at most 1,000,000 entries of it; the rest is read in the background.
 * - After each run, directories with a new ctime are read again, and new directories below them. Then the files of all other
 *   directories are checked, because a file that is written in place does not change its directory. Past 200,000 directories
 *   the others are read again after every run.
 * - A report is incomplete as long as this goes on, except for the files, and if a path is longer than 16 KiB.
 * - These are always mounted read-only: protected names at the root; every repository, nested ones and worktrees included;
 *   paths that the person's own git configuration and hooks run. More than 400 of them are refused. Of other nested names the
 *   64 shallowest outside node_modules are mounted; the search after the run covers the rest.
 *
 * What a person makes on the host is known to the next sandbox if it is at the root, directly below it, or in a known
 * repository. Elsewhere it is known when the next run has ended; until then it is neither protected nor hidden. It does not
 * count as made by a run unless it was made or changed during that run.
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
  /** How many sandboxes are being built with a path mounted, by path. */
  readonly #building = new Map<RawPath, number>();
  readonly #reports: AwaitedReport[] = [];
  /** To be called when the walk that goes on has ended, or has failed. */
  readonly #afterWalk: ((failure: ContextdError | null) => void)[] = [];
  #enclosingGitDir: string | null = null;
  #isWalked = false;
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
    this.#scan = new Scan({
      ...shared,
      globs: compileGlobs(deps.deny),
      isBeingBuilt: (path) => {
        catchUp();
        return this.#building.has(path);
      },
    });
    this.#survey = new Survey(index, ledger, pause);
    this.#targets = new Targets(index, deps.person);
    this.#search = new Search({
      ...{ index, clock, logger },
      scan: this.#scan,
      answerReports: () => this.answerReports(),
    });
    this.#actions = new QuarantineActions(shared);
  }

  /**
   * What a sandbox that starts now must mount. Costs a fixed number of lstats. The first request waits for the walk, and a
   * request that finds a hidden file gone waits until the search has found its new place. Rejects with SANDBOX_UNAVAILABLE
   * if the workspace cannot be protected, and with PATH_NOT_FOUND if it does not exist.
   */
  protection(answer: Answer<Protection>): void {
    try {
      const protection = this.#findProtection(answer);
      if (protection !== null) answer.resolve(protection);
    } catch (cause) {
      answer.reject(cause);
    }
  }

  /** Before a run. `at`: before its sandbox could change anything. End with `finish`, or with `runs.settle` if it never started. */
  begin(cover: Cover, at: Moment): Run {
    return this.runs.begin(cover, at);
  }

  /** For a run that the engine of a crashed thread was searching for. `ended`: null if the run goes on. */
  resume(cover: Cover, began: Moment, ended: Moment | null): Run {
    const run = this.runs.begin(cover, began);
    this.#index.hasMemory = this.#isWalked;
    if (ended === null) return run;
    this.runs.end(run, ended);
    // Its report was lost with the crash: the next report includes what is found.
    run.isReported = true;
    this.#searchFor(run);
    this.#search.whenDone(() => {});
    return run;
  }

  /**
   * When the sandbox is dead and `runs.end` was called: moves aside what the run made. Answers after at most about 20 ms, or 80
   * ms if the run made or changed many directories. The search goes on in the background, and the next report includes what it
   * finds. Rejects with INTERNAL_ERROR if a dangerous file could not be moved.
   */
  finish(run: Run, answer: Answer<QuarantineReport>): void {
    try {
      const dueAtMs = this.#deps.clock.monotonic() + FOREGROUND_MS;
      this.#searchFor(run);
      this.#reports.push({ run, answer, dueAtMs });
      this.#checkLinks(run);
      this.#search.lookFirst(FOREGROUND_MS / 2);
      this.#search.work(0);
    } catch (cause) {
      const at = this.#reports.findIndex((report) => report.run === run);
      if (at >= 0) this.#reports.splice(at, 1);
      answer.reject(cause);
    }
  }

  /** Answers every report that is due, and all reports if the search is done. Returns whether others still wait. */
  answerReports(): boolean {
    if (this.#reports.length === 0) return false;
    const { isDone, isSearched, hasChangesLeft } = this.#search;
    const nowMs = this.#deps.clock.monotonic() - (hasChangesLeft ? CHANGED_MS : 0);
    const due = this.#reports.filter(({ dueAtMs }) => isDone || nowMs >= dueAtMs);
    for (const report of due) {
      this.#reports.splice(this.#reports.indexOf(report), 1);
      this.#answer(report, isSearched);
    }
    return this.#reports.length > 0;
  }

  /** Continues a search that somebody waits for, for at most `milliseconds`, unless this engine is at work already. */
  workIfAwaited(milliseconds: number): void {
    if (this.#search.isAwaited) this.#search.work(milliseconds);
  }

  /**
   * `change` is 1 before a sandbox is built with these paths mounted, and -1 afterwards. If a mounted path disappears
   * meanwhile, bubblewrap makes an empty one in its place, which no run made.
   */
  markBuilding(paths: readonly string[], change: 1 | -1): void {
    for (const path of paths.map(toRaw)) {
      const count = (this.#building.get(path) ?? 0) + change;
      if (count > 0) this.#building.set(path, count);
      else this.#building.delete(path);
    }
  }

  /** Other trees that the same commands write, each with a guard of its own: a worktree may lead from one to another. */
  setCompanions(trees: readonly string[]): void {
    this.#index.companions = trees.map(toRaw);
  }

  /** The git directory of the repository around the workspace, which commands may use. */
  setEnclosing(gitDir: string): void {
    this.#enclosingGitDir = gitDir;
  }

  /** What a person does with set-aside files. Rejects with PATH_NOT_FOUND and CONFLICT. */
  quarantine(action: QuarantineAction, answer: Answer<QuarantineResult>): void {
    this.#actions.carryOut(action, answer);
  }

  /** Calls `onDone` when nothing goes on in the background. */
  whenSettled(onDone: () => void): void {
    this.#search.whenDone(onDone);
  }

  /** Stops the background search and refuses further sandboxes. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#search.close();
    this.#endWalk(stopping());
  }

  /** Null if a search must come first, which answers at its end. */
  #findProtection(answer: Answer<Protection>): Protection | null {
    if (this.#isClosed) throw stopping();
    const again = () => this.protection(answer);
    const afterWalk = (failure: ContextdError | null) => (failure === null ? again() : answer.reject(failure));
    if (!this.#isWalked || this.#afterWalk.length > 0) {
      this.#walkFirst(afterWalk);
      return null;
    }
    const commonGitDir = this.#ownCommonGitDir();
    const enclosingGitDir = this.#enclosingGitDir;
    const newRoot = [commonGitDir, enclosingGitDir].find((dir) => dir !== null && this.#index.addRoot(toRaw(dir)));
    if (typeof newRoot === 'string') {
      this.#afterWalk.push(afterWalk);
      this.#search.walk(toRaw(newRoot), () => this.#endWalk(null));
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

  /** The repository of a worktree, unless another guard protects it. */
  #ownCommonGitDir(): string | null {
    const found = findCommonGitDir(this.#deps.workspace);
    return found !== null && this.#index.companions.some((tree) => isWithin(tree, toRaw(found))) ? null : found;
  }

  #walkFirst(afterWalk: (failure: ContextdError | null) => void): void {
    const { workspace, clock, logger } = this.#deps;
    const isWalking = this.#afterWalk.length > 0;
    const startedAtMs = clock.monotonic();
    if (!isWalking) this.#targets.refresh();
    this.#afterWalk.push(afterWalk);
    if (isWalking) return;
    this.#search.walk(toRaw(workspace), () => {
      const directories = this.#index.directories.size;
      this.#isWalked = directories > 0;
      if (!this.#isWalked) {
        this.#endWalk(new ContextdError('PATH_NOT_FOUND', `the workspace ${workspace} does not exist`));
        return;
      }
      logger.info('workspace.indexed', { workspace, directories, milliseconds: clock.monotonic() - startedAtMs });
      if (!this.#index.isComplete) logger.warn('workspace.too_large', { workspace, directories });
      this.#endWalk(null);
    });
  }

  #endWalk(failure: ContextdError | null): void {
    for (const afterWalk of this.#afterWalk.splice(0)) afterWalk(failure);
  }

  #searchAgain(onDone: () => void): void {
    this.#search.start(() => {});
    this.#search.whenDone(onDone);
  }

  /** Settings that name a path below every directory require that every directory is read again. */
  #haveNewRelativeTargets(): boolean {
    const before = this.#index.relativeTargets;
    this.#targets.refresh();
    return this.#index.relativeTargets !== before;
  }

  #searchFor(run: Run): void {
    if (!this.#isWalked && this.#afterWalk.length === 0) this.#walkFirst(() => {});
    this.#search.start(() => {
      this.runs.settle(run);
      this.#deps.onSettled(run);
    });
  }

  /** No mount protects a link. A link that was replaced is put back; one that now leads elsewhere is moved aside. */
  #checkLinks(run: Run): void {
    for (const [path, before] of run.cover.links) {
      const change = compareLink(path, before);
      if (change.kind === 'none') continue;
      if (change.kind !== 'gone') this.#scan.judge.quarantine(path, change.identity, REPLACED_LINK);
      if (change.kind !== 'redirected') this.#scan.judge.putBack(path, before.text);
    }
  }

  #answer({ run, answer }: AwaitedReport, isSearched: boolean): void {
    const failure = this.#scan.judge.takeFailure();
    if (failure !== null) {
      this.runs.postpone(run);
      answer.reject(failure);
      return;
    }
    const found = this.runs.collect(run);
    answer.resolve({
      quarantined: found.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, REPORTED_MAX),
      complete: isSearched && this.#index.isComplete && found.length <= REPORTED_MAX,
    });
  }
}

function stopping(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
}
