import { Channel } from '../../core/channel.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Reply, type Request, replyOf, type SpawnerSettings } from '../contract/spawner-messages.ts';
import { type SpawnerEvents, type SpawnerLink, SpawnerProcess } from './spawner-process.ts';

/** A request without its id. */
export type Unnumbered = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

/** A request that was sent. */
export interface Asked {
  readonly id: number;
  readonly result: Promise<unknown>;
}

interface Sent {
  readonly request: Unnumbered;
  readonly body: Buffer | undefined;
}

/** A spawner, and the requests that it has not answered. */
export interface Running {
  spawner: SpawnerLink;
  readonly channel: Channel<Sent, unknown>;
  isConfigured: boolean;
}

export interface SpawnerConnectionDeps {
  readonly settings: SpawnerSettings;
  /** The way to the spawner through the next daemon; null if this daemon has it. */
  link(): SpawnerLink | null;
  onReply(running: Running, reply: Reply, body: Buffer): void;
  /** Called when a spawner is gone and its requests have failed. */
  onLost(): void;
  readonly logger: Logger;
}

/** The daemon's requests to the spawner. If it dies, they fail at once, and the next request starts it again. */
export class SpawnerConnection {
  readonly #deps: SpawnerConnectionDeps;
  #running: Running | null = null;
  /** Ids are never reused after the spawner died, because a caller may still hold the id of an old run. */
  #lastId = 0;
  #stopping: Promise<void> | null = null;

  constructor(deps: SpawnerConnectionDeps) {
    this.#deps = deps;
  }

  get running(): Running | null {
    return this.#running;
  }

  get isStopping(): boolean {
    return this.#stopping !== null;
  }

  /** Starts the spawner, which does not touch contextd's home directory before the first request. */
  launch(): void {
    this.reopen();
    this.#running ??= this.#spawn();
  }

  /** Takes requests again after `stop`. */
  reopen(): void {
    this.#stopping = null;
  }

  /** Running commands end first and their callers get the result. If the spawner died, nothing is left to stop. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stopRunning();
    await this.#stopping;
  }

  async #stopRunning(): Promise<void> {
    // What this daemon has left belongs to the next one.
    if (this.#running !== null && this.#deps.link() === null) await this.#stopSpawner(this.#running);
  }

  async #stopSpawner(running: Running): Promise<void> {
    await this.#send(running, { op: 'stop' }).result.catch(() => {});
    await running.spawner.stop();
  }

  async ask<T>(request: Unnumbered): Promise<T> {
    return this.request(request).result as Promise<T>;
  }

  request(request: Unnumbered, body?: Buffer): Asked {
    return this.#send(this.ready(), request, body);
  }

  /** Sends a message that has no reply, unless no spawner runs. */
  tell(message: Request): void {
    this.#running?.spawner.send(message);
  }

  #send({ channel }: Running, request: Unnumbered, body?: Buffer): Asked {
    const result = channel.ask({ request, body });
    this.#lastId = channel.lastId;
    return { id: this.#lastId, result };
  }

  /** The spawner, started and configured. Throws SANDBOX_UNAVAILABLE. */
  ready(): Running {
    if (this.#stopping !== null) {
      throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping', {
        remedy: 'Call again when it has started.',
      });
    }
    this.#running ??= this.#spawn();
    if (!this.#running.isConfigured) {
      this.#running.spawner.send({ op: 'configure', settings: this.#deps.settings });
      this.#running.isConfigured = true;
    }
    return this.#running;
  }

  #spawn(): Running {
    const link = this.#deps.link();
    const running = this.#with((events) => link ?? SpawnerProcess.start(events, this.#deps.logger));
    running.isConfigured = link !== null;
    return running;
  }

  /** Ends the spawner, so that the next request starts a new one. */
  async renew(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    await this.#stopSpawner(running);
  }

  /** Goes on with the spawner of the daemon before. */
  adopt(start: (events: SpawnerEvents) => SpawnerLink, firstId: number): void {
    this.#lastId = firstId;
    this.#running = this.#with(start);
    this.#running.isConfigured = true;
  }

  #with(start: (events: SpawnerEvents) => SpawnerLink): Running {
    const channel: Running['channel'] = new Channel(
      (id, { request, body }) => running.spawner.send({ ...request, id } as Request, body),
      this.#lastId,
    );
    const spawner = start({
      onMessage: (header, body) => this.#deps.onReply(running, replyOf(header), body),
      onGone: (lastWords) => this.lost(running, lastWords),
    });
    const running: Running = { spawner, channel, isConfigured: false };
    return running;
  }

  /** Sandboxes do not outlive the spawner, so everything pending has ended. */
  lost(running: Running, lastWords: string): void {
    const { spawner, channel } = running;
    const isExpected = this.#stopping !== null || this.#running !== running;
    if (this.#running === running) this.#running = null;
    if (!isExpected) this.#deps.logger.error('spawner.died', { pid: spawner.pid, printed: lastWords });
    channel.close(spawnerGone());
    this.#deps.onLost();
  }
}

export function spawnerGone(): ContextdError {
  return new ContextdError('INTERRUPTED', 'the process that runs sandboxes ended, and with it the command', {
    remedy: 'Look at what the command has done before calling again.',
  });
}
