import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import { unpackError } from '../spawner/messages.ts';
import { compileGlobs } from './glob.ts';
import type {
  Answer,
  GuardCall,
  GuardReply,
  GuardRequest,
  GuardResults,
  GuardSettings,
  GuardThreadData,
} from './guard-messages.ts';
import type { Protection } from './protection.ts';
import { type Moment, momentOf } from './runs.ts';

/** Megabytes for new objects in the thread's heap: a search makes many short-lived ones. */
const YOUNG_HEAP_MB = 8;

/** `isAgain`: the run makes again what was set aside. */
export type OnFound = (found: SetAside, isAgain: boolean) => void;

/** A run between `begin` and `finish`. */
export interface RunWatch {
  readonly run: number;
  readonly protection: Protection;
  readonly began: Moment;
  /** When its sandbox was known to be dead; null while it goes on. */
  ended: Moment | null;
  /** Gets what the run made and was moved aside, while it goes on; null: nobody asks. */
  readonly onFound: OnFound | null;
}

/**
 * Protects one workspace: plans what a sandbox must mount, and moves aside what a run made that would make a program on the
 * host run or trust something (see `GuardEngine`, which does the work on a thread of its own).
 *
 * The main thread takes the times at which a run began and ended and sends them along, because it starts and watches the
 * sandboxes. It remembers every run until the thread has searched all that the run may have changed: if the thread crashes,
 * the next thread gets the list of these runs and searches again.
 */
export class WorkspaceGuard {
  readonly #thread: GuardThread;
  readonly #settings: GuardSettings;
  readonly #guard: number;
  readonly #unsettled = new Map<number, RunWatch>();
  readonly #building = new Set<readonly string[]>();
  /** By the workspace of the policy. */
  readonly #companions = new Map<string, readonly string[]>();
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

  /** For a sandbox that has its mounts. Call the returned function when the sandbox is dead, once. */
  hold(): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
      this.#neededAtMs = this.#thread.clock.monotonic();
    };
  }

  /** Milliseconds since it was needed last; 0 while a sandbox, a request or a search needs it. */
  get idleMs(): number {
    if (this.#users + this.#unsettled.size + this.#building.size > 0) return 0;
    return this.#thread.clock.monotonic() - this.#neededAtMs;
  }

  /**
   * What a sandbox that starts now must mount. The first call waits until the workspace has been walked. Throws
   * SANDBOX_UNAVAILABLE if the workspace cannot be protected, and PATH_NOT_FOUND if it does not exist.
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

  /** Before a run; pair with `finish` or `forget`. */
  begin(protection: Protection, onFound?: OnFound): RunWatch {
    const watch = {
      run: ++this.#lastRun,
      protection,
      began: momentOf(this.#thread.clock),
      ended: null,
      onFound: onFound ?? null,
    };
    this.#unsettled.set(watch.run, watch);
    const { run, began } = watch;
    this.#thread.send({ op: 'begin', guard: this.#guard, run, cover: protection.cover, began });
    return watch;
  }

  /**
   * When the sandbox is dead: moves aside what the run made. Takes at most about 20 ms, or 80 ms if the run made or changed
   * many directories; the search goes on in the background, and the next report includes what it finds. Throws
   * INTERNAL_ERROR if a dangerous file could not be moved, and SANDBOX_UNAVAILABLE if the thread crashed.
   */
  finish(watch: RunWatch): Promise<QuarantineReport> {
    watch.ended = momentOf(this.#thread.clock);
    return this.#needed(this.#thread.call({ op: 'finish', guard: this.#guard, run: watch.run, ended: watch.ended }));
  }

  /** For a run whose sandbox never started. */
  forget({ run }: RunWatch): void {
    this.#unsettled.delete(run);
    this.#thread.send({ op: 'forget', guard: this.#guard, run });
  }

  /**
   * Call it before a sandbox is built with these paths mounted, and the returned function afterwards. If a mounted path
   * disappears meanwhile, bubblewrap makes an empty one in its place, which no run made.
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
   * Names the other trees that commands of `workspace` write; each has a guard of its own. git may lead from one to another,
   * as it does from a worktree to its repository.
   */
  accompany(workspace: string, trees: readonly string[]): void {
    const known = this.#companions.get(workspace) ?? [];
    if (known.length === trees.length && known.every((tree, i) => tree === trees[i])) return;
    this.#companions.set(workspace, trees);
    this.#thread.send(this.#companionsRequest(this.#guard));
  }

  /** The git directory of the repository around the workspace, which commands of the workspace may use from now on. */
  enclose(gitDir: string): void {
    if (gitDir === this.#enclosingGitDir) return;
    this.#enclosingGitDir = gitDir;
    this.#thread.send({ op: 'enclosing', guard: this.#guard, gitDir });
  }

  #companionsRequest(guard: number): GuardRequest {
    return { op: 'companions', guard, trees: [...new Set([...this.#companions.values()].flat())] };
  }

  /** What a person does with set-aside files. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    return this.#needed(this.#thread.call({ op: 'quarantine', guard: this.#guard, action }));
  }

  /** Resolves when nothing goes on in the background. */
  async settled(): Promise<void> {
    await this.#needed(this.#thread.call({ op: 'settled', guard: this.#guard }));
  }

  /** A guard with a request under way is not idle. */
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

  /** For `GuardThread`: the requests that tell a new thread everything about this guard. */
  introduce(guard: number): GuardRequest[] {
    const building = [...this.#building].map((paths) => ({ op: 'building', guard, paths, change: 1 }) as const);
    const resumed = [...this.#unsettled.values()].map(
      ({ run, protection: { cover }, began, ended }) => ({ op: 'resume', guard, run, cover, began, ended }) as const,
    );
    this.#protection = null;
    const companions = this.#companions.size === 0 ? [] : [this.#companionsRequest(guard)];
    const gitDir = this.#enclosingGitDir;
    const enclosing = gitDir === null ? [] : [{ op: 'enclosing', guard, gitDir } as const];
    return [{ op: 'open', guard, settings: this.#settings }, ...companions, ...enclosing, ...building, ...resumed];
  }

  /** For `GuardThread`. */
  found(run: number, found: SetAside, isAgain: boolean): void {
    this.#unsettled.get(run)?.onFound?.(found, isAgain);
  }

  /** For `GuardThread`: everything that the run may have changed has been searched. */
  settle(run: number): void {
    this.#unsettled.delete(run);
    this.#neededAtMs = this.#thread.clock.monotonic();
  }
}

/**
 * The thread that all guards of this process share. If it crashes, every pending call fails with one reason, and a new
 * thread is started that knows the same guards and the runs that are not settled.
 */
export class GuardThread {
  readonly clock: Clock;
  readonly #logger: Logger;
  readonly #program: URL;
  readonly #guards = new Map<number, WorkspaceGuard>();
  readonly #pending = new Map<number, Answer<unknown>>();
  #worker: Worker | null = null;
  #lastGuard = 0;
  #lastCall = 0;
  /** Whether the thread has answered a call: one that crashes before that is started again only with the next request. */
  #hasAnswered = false;
  #isStopped = false;

  /** `program`: the compiled program of the thread. */
  constructor(logger: Logger, clock: Clock, program = new URL('./guard-worker.js', import.meta.url)) {
    this.#logger = logger;
    this.clock = clock;
    this.#program = program;
    this.#running();
  }

  /** Returns the number by which the guard is named in requests. */
  add(guard: WorkspaceGuard): number {
    const worker = this.#running();
    const number = ++this.#lastGuard;
    this.#guards.set(number, guard);
    for (const request of guard.introduce(number)) worker?.postMessage(request);
    return number;
  }

  remove(guard: number): void {
    this.#guards.delete(guard);
  }

  send(request: GuardRequest): void {
    this.#running()?.postMessage(request);
  }

  /** Throws SANDBOX_UNAVAILABLE if the thread crashes before it has answered. */
  call<Op extends GuardCall['op']>(request: WithoutCall<GuardCall & { op: Op }>): Promise<GuardResults[Op]> {
    const worker = this.#running();
    if (worker === null) return Promise.reject(stopping());
    const call = ++this.#lastCall;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      worker.ref();
      worker.postMessage({ ...request, call });
    });
  }

  /** Writes what is not written yet and ends the thread. Close the guards first. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    const worker = this.#worker;
    if (worker !== null) await this.call({ op: 'stop' }).catch(() => {});
    this.#isStopped = true;
    await this.#worker?.terminate();
  }

  /** Returns the thread, and starts it if it does not run. Null after `stop`. */
  #running(): Worker | null {
    if (this.#worker !== null || this.#isStopped) return this.#worker;
    const data: GuardThreadData = { clockStartMs: Number(process.hrtime.bigint()) / 1e6 - this.clock.monotonic() };
    const worker = new Worker(this.#program, {
      name: 'workspace-guard',
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    this.#worker = worker;
    this.#hasAnswered = false;
    worker.unref();
    worker.on('message', (reply: GuardReply) => this.#take(reply));
    worker.on('error', (cause) => this.#onEnd(worker, cause));
    worker.on('exit', (code) => this.#onEnd(worker, new Error(`exit code ${code}`)));
    for (const [number, guard] of this.#guards)
      for (const request of guard.introduce(number)) worker.postMessage(request);
    return worker;
  }

  #take(reply: GuardReply): void {
    if (reply.re === 'log') {
      const { level, event, fields } = reply;
      this.#logger[level](event, fields);
      return;
    }
    if (reply.re === 'settled') {
      this.#guards.get(reply.guard)?.settle(reply.run);
      return;
    }
    if (reply.re === 'found') {
      this.#guards.get(reply.guard)?.found(reply.run, reply.found, reply.isAgain);
      return;
    }
    this.#hasAnswered = true;
    const answer = this.#pending.get(reply.call);
    this.#pending.delete(reply.call);
    if (this.#pending.size === 0) this.#worker?.unref();
    if (reply.re === 'ok') answer?.resolve(reply.result);
    else answer?.reject(unpackError(reply.error));
  }

  #onEnd(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const failure = this.#isStopped ? stopping() : crashed(cause);
    if (!this.#isStopped) this.#logger.error('workspace.guard.crashed', {}, cause);
    for (const answer of this.#pending.values()) answer.reject(failure);
    this.#pending.clear();
    if (this.#hasAnswered) this.#running();
  }
}

type WithoutCall<T> = T extends unknown ? Omit<T, 'call'> : never;

function crashed(cause: unknown): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'the thread that searches projects for dangerous files crashed', {
    remedy: 'Check what the last command did, then call again. `ctxd server logs` has the cause.',
    cause,
  });
}

function stopping(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
}
