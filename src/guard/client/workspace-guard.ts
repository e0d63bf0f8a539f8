import type { SetAside } from '../../core/envelope.ts';
import { compileGlobs } from '../../fs/glob.ts';
import type { GuardRequest, GuardSettings } from '../contract/messages.ts';
import { beforeChanges, type Moment, momentOf } from '../contract/moment.ts';
import type { Protection } from '../contract/protection.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../contract/quarantine.ts';
import { type GuardThread, stopping, type ThreadGuard } from './guard-thread.ts';

export type OnFound = (found: SetAside) => void;

/** A run between `begin` and `finish`. */
export interface RunWatch {
  readonly run: number;
  readonly protection: Protection;
  readonly began: Moment;
  /** When its sandbox was known to be dead; null while it runs. */
  ended: Moment | null;
  /** Called during the run for paths that it may have created and that were moved away. Null for calls. */
  readonly onFound: OnFound | null;
}

/**
 * Protects one workspace: plans the mounts of sandboxes, and moves away files of a run that a program on the host would
 * run or trust. A client of `GuardEngine`, which does the work on its own thread.
 *
 * The main thread takes the start and end times of runs and sends them along, because it starts and watches the
 * sandboxes. It remembers every run until the thread has searched everything that the run may have changed: if the
 * thread crashes, the next thread gets the list of these runs and searches again.
 */
export class WorkspaceGuard implements ThreadGuard {
  readonly #thread: GuardThread;
  readonly #settings: GuardSettings;
  readonly #guard: number;
  readonly #unsettled = new Map<number, RunWatch>();
  readonly #building = new Set<readonly string[]>();
  /** Policy key (often the workspace) → other trees that the policy's commands write. */
  readonly #companions = new Map<string, readonly string[]>();
  /** Workspace → places that its commands read. */
  readonly #readOnly = new Map<string, readonly string[]>();
  #enclosingGitDir: string | null = null;
  #protection: Protection | null = null;
  #lastRun = 0;
  #users = 0;
  #neededAtMs: number;
  #isClosed = false;

  /** Throws SCHEMA_INVALID for an invalid deny glob. */
  constructor(thread: GuardThread, settings: GuardSettings) {
    compileGlobs(settings.deny);
    this.#thread = thread;
    this.#settings = settings;
    this.#guard = thread.add(this);
    this.#neededAtMs = thread.clock.monotonic();
  }

  /** Keeps the guard alive for a sandbox with its mounts. Call the returned function once, when the sandbox is dead. */
  hold(): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
      this.#neededAtMs = this.#thread.clock.monotonic();
    };
  }

  /** Milliseconds since its last use; 0 while a sandbox, a request or a search uses it. */
  get idleMs(): number {
    if (this.#users + this.#unsettled.size + this.#building.size > 0) return 0;
    return this.#thread.clock.monotonic() - this.#neededAtMs;
  }

  /**
   * The mounts for a sandbox that starts now. The first call waits until the workspace has been walked. Throws
   * SANDBOX_UNAVAILABLE if the workspace cannot be protected, PATH_NOT_FOUND if it does not exist.
   */
  async protection(): Promise<Protection> {
    if (this.#isClosed) throw stopping();
    const known = this.#protection;
    const fingerprint = known?.fingerprint ?? null;
    const changed = await this.#needed(this.#thread.call({ op: 'protection', guard: this.#guard, fingerprint }));
    if (changed !== null) this.#protection = changed;
    const protection = changed ?? known;
    if (protection === null) throw new Error('the thread answered with a protection that was never sent');
    return protection;
  }

  /**
   * Call before a run; pair with `finish` or `forget`. With `onFound` (for a job) the run is searched while it goes on;
   * without it (for a call) nothing is moved before it ends.
   */
  begin(protection: Protection, onFound?: OnFound): RunWatch {
    const watch = {
      run: ++this.#lastRun,
      protection,
      began: beforeChanges(this.#thread.clock),
      ended: null,
      onFound: onFound ?? null,
    };
    this.#unsettled.set(watch.run, watch);
    const { run, began } = watch;
    const isSearched = watch.onFound !== null;
    this.#thread.send({ op: 'begin', guard: this.#guard, run, cover: protection.cover, began, isSearched });
    return watch;
  }

  /**
   * Call when the sandbox is dead: moves away dangerous paths that the run created. Takes at most about 20 ms, or 80 ms
   * if the run changed many directories. The search continues in the background, and the next report includes its
   * finds. Throws INTERNAL_ERROR if a dangerous file could not be moved, SANDBOX_UNAVAILABLE if the thread crashed.
   */
  finish(watch: RunWatch): Promise<QuarantineReport> {
    watch.ended = momentOf(this.#thread.clock);
    return this.#needed(this.#thread.call({ op: 'finish', guard: this.#guard, run: watch.run, ended: watch.ended }));
  }

  /** During runs: moves away dangerous paths created so far. Resolves when everything has been searched. */
  async search(): Promise<void> {
    await this.#needed(this.#thread.call({ op: 'search', guard: this.#guard }));
  }

  /** Drops a run whose sandbox never started. */
  forget({ run }: RunWatch): void {
    this.#unsettled.delete(run);
    this.#thread.send({ op: 'forget', guard: this.#guard, run });
  }

  /**
   * Call before a sandbox is built with these paths mounted, and the returned function afterwards. If a mounted path
   * disappears meanwhile, bubblewrap creates an empty one in its place, which must not be attributed to a run.
   */
  building(paths: readonly string[]): () => void {
    this.#building.add(paths);
    this.#thread.send({ op: 'building', guard: this.#guard, paths, change: 1 });
    return () => {
      if (!this.#building.delete(paths)) return;
      this.#thread.send({ op: 'building', guard: this.#guard, paths, change: -1 });
    };
  }

  /**
   * Sets the other trees that the commands of a policy write, each with its own guard. git may lead from one tree to
   * another, as from a worktree to its repository. `workspace` is only the key under which the list is kept.
   */
  accompany(workspace: string, trees: readonly string[]): void {
    if (remember(this.#companions, workspace, trees)) this.#thread.send(this.#companionsRequest(this.#guard));
  }

  /** Sets places outside the trees that commands of `workspace` read, such as toolchains: links there are allowed. */
  allowLinksTo(workspace: string, places: readonly string[]): void {
    if (remember(this.#readOnly, workspace, places)) this.#thread.send(this.#readOnlyRequest(this.#guard));
  }

  /**
   * Sets the git directory of the repository around the workspace, which the workspace's commands may use from now on.
   */
  enclose(gitDir: string): void {
    if (gitDir === this.#enclosingGitDir) return;
    this.#enclosingGitDir = gitDir;
    this.#thread.send({ op: 'enclosing', guard: this.#guard, gitDir });
  }

  #companionsRequest(guard: number): GuardRequest {
    return { op: 'companions', guard, trees: [...new Set([...this.#companions.values()].flat())] };
  }

  #readOnlyRequest(guard: number): GuardRequest {
    return { op: 'read_only', guard, places: [...new Set([...this.#readOnly.values()].flat())] };
  }

  /** Acts on quarantined files for a person. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    return this.#needed(this.#thread.call({ op: 'quarantine', guard: this.#guard, action }));
  }

  /** Resolves when the background work is done. */
  async settled(): Promise<void> {
    await this.#needed(this.#thread.call({ op: 'settled', guard: this.#guard }));
  }

  /** Runs a request; a guard with a pending request is not idle. */
  async #needed<T>(request: Promise<T>): Promise<T> {
    const release = this.hold();
    try {
      return await request;
    } finally {
      release();
    }
  }

  /** Refuses further sandboxes and stops the background search. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#thread.remove(this.#guard);
    this.#thread.send({ op: 'close', guard: this.#guard });
  }

  introduce(guard: number): GuardRequest[] {
    const building = [...this.#building].map((paths) => ({ op: 'building', guard, paths, change: 1 }) as const);
    const resumed = [...this.#unsettled.values()].map(
      ({ run, protection: { cover }, began, ended, onFound }) =>
        ({ op: 'resume', guard, run, cover, began, ended, isSearched: onFound !== null }) as const,
    );
    this.#protection = null;
    const companions = this.#companions.size === 0 ? [] : [this.#companionsRequest(guard)];
    const readOnly = this.#readOnly.size === 0 ? [] : [this.#readOnlyRequest(guard)];
    const gitDir = this.#enclosingGitDir;
    const enclosing = gitDir === null ? [] : [{ op: 'enclosing', guard, gitDir } as const];
    const settings: GuardRequest = { op: 'open', guard, settings: this.#settings };
    return [settings, ...companions, ...readOnly, ...enclosing, ...building, ...resumed];
  }

  found(run: number, found: SetAside): void {
    this.#unsettled.get(run)?.onFound?.(found);
  }

  settle(run: number): void {
    this.#unsettled.delete(run);
    this.#neededAtMs = this.#thread.clock.monotonic();
  }
}

/** Stores the list. Returns whether it changed. */
function remember(known: Map<string, readonly string[]>, key: string, list: readonly string[]): boolean {
  const before = known.get(key) ?? [];
  if (before.length === list.length && before.every((one, i) => one === list[i])) return false;
  known.set(key, list);
  return true;
}
