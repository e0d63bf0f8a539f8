import { Worker } from 'node:worker_threads';
import { Channel } from '../../core/channel.ts';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { ownProgram } from '../../core/own-program.ts';
import { unpackError } from '../../core/wire-error.ts';
import type { GuardCall, GuardReply, GuardRequest, GuardResults, GuardThreadData } from '../contract/messages.ts';

/** Young generation size of the thread's heap in megabytes: a search creates many short-lived objects. */
const YOUNG_HEAP_MB = 8;

/** A guard as its thread knows it. */
export interface ThreadGuard {
  /** The requests that bring a new thread up to date about this guard. */
  introduce(guard: number): GuardRequest[];
  /** A path that a run may have created was moved away. */
  found(run: number, found: SetAside): void;
  /** Everything that the run may have changed has been searched. */
  settle(run: number): void;
}

interface Running {
  readonly worker: Worker;
  readonly channel: Channel<WithoutCall<GuardCall>, GuardResults[keyof GuardResults]>;
}

/**
 * The worker thread shared by all guards of this process. If it crashes, every pending call fails with the same reason,
 * and a new thread is started with the same guards and the unsettled runs.
 */
export class GuardThread {
  readonly clock: Clock;
  readonly #logger: Logger;
  readonly #program: URL;
  readonly #guards = new Map<number, ThreadGuard>();
  #running: Running | null = null;
  #lastGuard = 0;
  /**
   * Whether the thread has answered a call. A thread that crashes before that is restarted only by the next request, to
   * avoid a crash loop.
   */
  #hasAnswered = false;
  #isStopped = false;

  /** `program`: the thread's compiled program. */
  constructor(logger: Logger, clock: Clock, program = ownProgram(new URL('../engine/main.js', import.meta.url))) {
    this.#logger = logger;
    this.clock = clock;
    this.#program = program;
    this.#start();
  }

  /** Returns the id that names the guard in requests. */
  add(guard: ThreadGuard): number {
    const running = this.#start();
    const number = ++this.#lastGuard;
    this.#guards.set(number, guard);
    for (const request of guard.introduce(number)) running?.worker.postMessage(request);
    return number;
  }

  remove(guard: number): void {
    this.#guards.delete(guard);
  }

  send(request: GuardRequest): void {
    this.#start()?.worker.postMessage(request);
  }

  /** Throws SANDBOX_UNAVAILABLE if the thread crashes before it answers. */
  call<Op extends GuardCall['op']>(request: WithoutCall<GuardCall & { op: Op }>): Promise<GuardResults[Op]> {
    const running = this.#start();
    if (running === null) return Promise.reject(stopping());
    running.worker.ref();
    return running.channel.ask(request) as Promise<GuardResults[Op]>;
  }

  /** Writes everything that is still unwritten and ends the thread. Close the guards first. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    if (this.#running !== null) await this.call({ op: 'stop' }).catch(() => {});
    this.#isStopped = true;
    await this.#running?.worker.terminate();
  }

  /** Returns the thread, starting it if necessary. Null after `stop`. */
  #start(): Running | null {
    if (this.#running !== null || this.#isStopped) return this.#running;
    const data: GuardThreadData = { clockStartMs: Number(process.hrtime.bigint()) / 1e6 - this.clock.monotonic() };
    const worker = new Worker(this.#program, {
      name: 'workspace-guard',
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    const channel: Running['channel'] = new Channel((call, request) => worker.postMessage({ ...request, call }));
    const running = { worker, channel };
    this.#running = running;
    this.#hasAnswered = false;
    worker.unref();
    worker.on('message', (reply: GuardReply) => this.#take(running, reply));
    worker.on('error', (cause) => this.#onEnd(running, cause));
    worker.on('exit', (code) => this.#onEnd(running, new Error(`exit code ${code}`)));
    for (const [number, guard] of this.#guards)
      for (const request of guard.introduce(number)) worker.postMessage(request);
    return running;
  }

  #take({ worker, channel }: Running, reply: GuardReply): void {
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
      this.#guards.get(reply.guard)?.found(reply.run, reply.found);
      return;
    }
    this.#hasAnswered = true;
    if (reply.re === 'ok') channel.resolve(reply.call, reply.result);
    else channel.reject(reply.call, unpackError(reply.error));
    if (channel.pendingCount === 0) worker.unref();
  }

  #onEnd(running: Running, cause: unknown): void {
    if (this.#running !== running) return;
    this.#running = null;
    const failure = this.#isStopped ? stopping() : crashed(cause);
    if (!this.#isStopped) this.#logger.error('workspace.guard.crashed', {}, cause);
    running.channel.close(failure);
    if (this.#hasAnswered) this.#start();
  }
}

type WithoutCall<T> = T extends unknown ? Omit<T, 'call'> : never;

function crashed(cause: unknown): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'the thread that searches projects for dangerous files crashed', {
    remedy: 'Check what the last command did, then call again. `ctxd server logs` has the cause.',
    cause,
  });
}

export function stopping(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
}
