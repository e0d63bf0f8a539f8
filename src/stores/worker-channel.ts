import { Worker } from 'node:worker_threads';
import { ContextdError } from '../core/errors.ts';
import type { Fault, Reply } from './sqlite-messages.ts';

/** Requests to one worker thread. When the thread dies, every pending request fails at once with one reason. */
export interface WorkerChannel<Body, Result> {
  request(body: Body): Promise<Result>;
  /** Ends the thread and waits until it is gone. Safe to call twice. */
  end(): Promise<void>;
}

export interface ChannelDeps {
  /** The compiled program of the worker. It receives `{id, body}` and posts arrays of replies. */
  program: URL;
  /** Names the thread in messages. */
  name: string;
  /** Called once if the thread dies without `end()`. */
  onDeath(error: ContextdError): void;
}

interface Pending<Result> {
  resolve(result: Result): void;
  reject(error: ContextdError): void;
}

export function openChannel<Body, Result>(deps: ChannelDeps): WorkerChannel<Body, Result> {
  return new Channel<Body, Result>(deps);
}

class Channel<Body, Result> implements WorkerChannel<Body, Result> {
  readonly #deps: ChannelDeps;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending<Result>>();
  readonly #gone: Promise<void>;
  #lastId = 0;
  #ending = false;
  #dead: ContextdError | undefined;

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
    this.#worker = new Worker(deps.program, { name: deps.name });
    this.#worker.on('message', (replies: readonly Reply<Result>[]) => this.#settle(replies));
    this.#worker.on('error', (error) => this.#die(error));
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#die(new Error(`exit code ${code}`));
        resolve();
      });
    });
  }

  request(body: Body): Promise<Result> {
    if (this.#dead) return Promise.reject(this.#dead);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#worker.postMessage({ id, body });
      this.#pending.set(id, { resolve, reject });
    });
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.#worker.terminate();
    await this.#gone;
  }

  #settle(replies: readonly Reply<Result>[]): void {
    for (const reply of replies) {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ('fault' in reply) pending?.reject(toError(reply.fault));
      else pending?.resolve(reply.result);
    }
  }

  #die(cause: unknown): void {
    if (this.#dead) return;
    this.#dead = new ContextdError('INTERNAL_ERROR', `the ${this.#deps.name} thread has ended`, {
      remedy: 'Restart the daemon with `ctxd server restart`.',
      cause,
    });
    for (const pending of this.#pending.values()) pending.reject(this.#dead);
    this.#pending.clear();
    if (!this.#ending) this.#deps.onDeath(this.#dead);
  }
}

function toError(fault: Fault): ContextdError {
  return new ContextdError(fault.code, fault.message, {
    ...(fault.remedy === undefined ? {} : { remedy: fault.remedy }),
    cause: fault.cause,
  });
}
