import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import { findCommonGitDir } from './git-dir.ts';
import { compileGlobs } from './glob.ts';
import { compareLink } from './links.ts';
import { planProtection } from './plan-mounts.ts';
import type { Protection } from './protection.ts';
import { QuarantineActions } from './quarantine-actions.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { REPLACED_LINK } from './quarantine-reasons.ts';
import { type RawPath, toRaw } from './raw-path.ts';
import { Rescan } from './rescan.ts';
import { REPORTED_MAX, type Run, Runs } from './runs.ts';
import { Scan } from './scan.ts';
import { type FoundHidden, Survey } from './survey.ts';
import { type Person, Targets } from './targets.ts';
import { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds a search may keep the answer waiting, enough for some 5,000 directories; half of them for what was most likely changed. */
const FOREGROUND_MS = 20;
/** Milliseconds more for directories that the run made or changed: it waits for its own work to be searched. */
const CHANGED_MS = 60;
/** Milliseconds for what is new at the root before a sandbox starts. */
const GLANCE_MS = 1;

export interface WorkspaceGuardDeps {
  /** Absolute real path. */
  workspace: string;
  deny: readonly string[];
  /** The person whose programs run on the host. */
  person: Person;
  /** Of this workspace; shared by all its guards. */
  ledger: QuarantineLedger;
  logger: Logger;
  clock: Clock;
}

/** A run between `begin` and `finish`. */
export type RunWatch = Run;

/**
 * Protects one workspace: says what a sandbox has to mount, and moves aside what a run made that would make a program on
 * the host run or trust something. Moved aside is renamed to `<name>.quarantined-<id>` and noted in the ledger; renaming it
 * back accepts it.
 *
 * One walk at the beginning finds directories, repositories, protected names and matches of the deny globs. It follows no
 * link, crosses no mount point and waits for at most 1,000,000 entries; the rest is read in the background. After each run
 * directories whose ctime changed are read again, and new ones below them; then the files of all others are looked at,
 * since one that is written in place does not change its directory. Past 200,000 directories the others are read again
 * after every run. Reports are incomplete while any of this goes on, but for the files, and while there is a path of more
 * than 16 KiB. Mounted are always the root's names, every repository, nested ones and worktrees included, and what the
 * person's own git configuration and hooks run (more than 400 paths are refused); of other nested names the 64 shallowest
 * outside node_modules, and the scan watches the rest.
 *
 * What a person makes on the host is known at once at the root, directly below it, and in a repository that is known;
 * elsewhere only when the next run has ended. Until then it is neither protected nor hidden. It is not taken for the
 * run's unless it was made or changed while that run went on.
 */
export class WorkspaceGuard {
  readonly #deps: WorkspaceGuardDeps;
  readonly #index: WorkspaceIndex;
  readonly #runs: Runs;
  readonly #scan: Scan;
  readonly #survey: Survey;
  readonly #targets: Targets;
  readonly #rescan: Rescan;
  readonly #actions: QuarantineActions;
  /** By path, how many sandboxes are being built over it. */
  readonly #building = new Map<RawPath, number>();
  #walk: Promise<void> | null = null;
  #isClosed = false;

  /** Throws SCHEMA_INVALID for a deny glob that is none. */
  constructor(deps: WorkspaceGuardDeps) {
    const { ledger, logger, clock } = deps;
    const workspace = toRaw(deps.workspace);
    this.#deps = deps;
    this.#index = new WorkspaceIndex(workspace);
    this.#runs = new Runs(clock, workspace);
    this.#scan = new Scan({
      index: this.#index,
      runs: this.#runs,
      globs: compileGlobs(deps.deny),
      building: this.#building,
      ledger,
      logger,
      clock,
    });
    this.#survey = new Survey(this.#index, ledger);
    this.#targets = new Targets(this.#index, deps.person);
    this.#rescan = new Rescan({ index: this.#index, scan: this.#scan, clock, logger });
    this.#actions = new QuarantineActions({ index: this.#index, runs: this.#runs, ledger, logger, clock });
  }

  /**
   * What must be mounted for a sandbox started now. Costs a fixed number of lstats; the first call waits for the walk,
   * and one that finds something hidden gone waits until it is known where it went. Throws SANDBOX_UNAVAILABLE where
   * the workspace cannot be protected, PATH_NOT_FOUND when it is not there.
   */
  async protection(): Promise<Protection> {
    this.#walk ??= this.#walkFirst();
    await this.#walk;
    const commonGitDir = await this.#findCommonGitDir();
    this.#rescan.glance(GLANCE_MS);
    await this.#refreshTargets();
    const hidden = await this.#findHidden();
    if (this.#isClosed) throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
    return planProtection(this.#survey.findProtected(), hidden, commonGitDir, (path) => this.#index.rootOf(path));
  }

  /** Before a run; pair with `finish` or `forget`. */
  begin(protection: Protection): RunWatch {
    return this.#runs.begin(protection);
  }

  /**
   * When the sandbox is dead: moves aside what appeared. Takes at most about 20 ms, and up to 60 ms more if the run made or
   * changed many directories; what is left goes on in the background and is in the next report. Throws INTERNAL_ERROR if
   * something dangerous could not be moved.
   */
  finish(watch: RunWatch): QuarantineReport {
    const until = this.#deps.clock.monotonic() + FOREGROUND_MS;
    this.#runs.end(watch);
    this.#rescan.start(() => this.#runs.settle(watch));
    this.#checkLinks(watch);
    this.#rescan.lookFirst(FOREGROUND_MS / 2);
    const isDone = this.#rescan.goOn(until - this.#deps.clock.monotonic(), CHANGED_MS);
    const failure = this.#scan.judge.takeFailure();
    if (failure !== null) {
      this.#runs.postpone(watch);
      throw failure;
    }
    return this.#report(watch, isDone);
  }

  /** For a sandbox that never started. */
  forget(watch: RunWatch): void {
    this.#runs.forget(watch);
  }

  /**
   * While a sandbox is being built: where a protected path is taken away under it, bubblewrap makes an empty one, which
   * is then nobody's doing. Call what is returned when it is built.
   */
  building(paths: readonly string[]): () => void {
    const raw = paths.map(toRaw);
    for (const path of raw) this.#building.set(path, (this.#building.get(path) ?? 0) + 1);
    return () => {
      for (const path of raw) {
        const left = (this.#building.get(path) ?? 1) - 1;
        if (left === 0) this.#building.delete(path);
        else this.#building.set(path, left);
      }
    };
  }

  /** What a person does with set-aside files. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    return this.#actions.carryOut(action);
  }

  /** Resolves when nothing goes on in the background. */
  settled(): Promise<void> {
    return this.#rescan.wait();
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#rescan.close();
  }

  async #walkFirst(): Promise<void> {
    const { workspace, clock, logger } = this.#deps;
    const startedAt = clock.monotonic();
    this.#targets.refresh();
    await this.#rescan.walk(toRaw(workspace));
    const directories = this.#index.directories.size;
    if (directories === 0) {
      this.#walk = null;
      throw new ContextdError('PATH_NOT_FOUND', `the workspace ${workspace} is not there`);
    }
    logger.info('workspace.indexed', { workspace, directories, milliseconds: clock.monotonic() - startedAt });
    if (!this.#index.isComplete) logger.warn('workspace.too_large', { workspace, directories });
  }

  async #findCommonGitDir(): Promise<string | null> {
    const common = findCommonGitDir(this.#deps.workspace);
    if (common !== null && this.#index.addRoot(toRaw(common))) await this.#rescan.walk(toRaw(common));
    return common;
  }

  /** Settings that name a path below any directory make every directory worth another look. */
  async #refreshTargets(): Promise<void> {
    const before = this.#index.relativeTargets;
    this.#targets.refresh();
    if (this.#index.relativeTargets === before) return;
    this.#index.directories.markAllChanged();
    this.#rescan.start(() => {});
    await this.#rescan.wait();
  }

  async #findHidden(): Promise<readonly FoundHidden[]> {
    for (;;) {
      const { hidden, vanished } = this.#survey.findHidden();
      if (!vanished || this.#isClosed) return hidden;
      this.#rescan.start(() => {});
      await this.#rescan.wait();
    }
  }

  /** No mount protects a link: one that was replaced is put back, one that leads elsewhere is moved aside. */
  #checkLinks(watch: RunWatch): void {
    for (const [path, before] of watch.protection.cover.links) {
      const change = compareLink(path, before);
      if (change.kind === 'none') continue;
      if (change.kind !== 'gone') this.#scan.judge.quarantine(path, change.identity, REPLACED_LINK);
      if (change.kind !== 'redirected') this.#scan.judge.putBack(path, before.text);
    }
  }

  #report(watch: RunWatch, isDone: boolean): QuarantineReport {
    const found = this.#runs.collect(watch);
    return {
      quarantined: found.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, REPORTED_MAX),
      complete: isDone && this.#index.isComplete && found.length <= REPORTED_MAX,
    };
  }
}
