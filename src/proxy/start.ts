import { ContextdError, isErrno } from '../core/errors.ts';
import type { Channel } from './channel.ts';
import { attemptConnection, cancelled } from './connect.ts';
import type { DaemonSource } from './reach-daemon.ts';
import { prepareDirectories, type Starting, startDaemon } from './start-daemon.ts';
import { attemptLock, type LockAttempt, type StartLock } from './start-lock.ts';

/** How long a daemon may take until it listens, milliseconds. */
const START_LIMIT_MS = 10_000;
/** One that ends at once may have found another that is just starting, e.g. by `ctxd`: that one gets this long. */
const OTHER_START_LIMIT_MS = 2_000;
/** Between two attempts, milliseconds: at first, and at most. A hundred that wait must leave the daemon some processor. */
const RETRY_FIRST_MS = 5;
const RETRY_MAX_MS = 50;

/** Throws DAEMON_UNAVAILABLE when no daemon comes up in time. */
export function startAndReach(source: DaemonSource): Promise<Channel> {
  return new Start(source).wait();
}

class Start {
  readonly #source: DaemonSource;
  #deadline = performance.now() + START_LIMIT_MS;
  #lock: StartLock | undefined;
  #daemon: Starting | undefined;
  #sawAnotherStart = false;
  #connected = false;

  constructor(source: DaemonSource) {
    this.#source = source;
  }

  async wait(): Promise<Channel> {
    try {
      for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 1.5, RETRY_MAX_MS)) {
        const channel = await this.#tryOnce();
        if (channel !== undefined) return channel;
        this.#giveUpWhenOver();
        await pause(waitMs, this.#source.signal);
      }
    } finally {
      if (!this.#isComing()) this.#lock?.release();
    }
  }

  async #tryOnce(): Promise<Channel | undefined> {
    const { places, signal } = this.#source;
    if (this.#lock === undefined) this.#tryLock();
    const attempt = await attemptConnection(places, signal);
    if (attempt.kind === 'connected') {
      this.#connected = true;
      return attempt.channel;
    }
    if (attempt.kind === 'absent' && this.#lock !== undefined && this.#daemon === undefined) this.#start();
    return undefined;
  }

  /** A daemon we leave while it is still starting keeps the lock, so that nobody starts a second. */
  #isComing(): boolean {
    return this.#daemon !== undefined && this.#daemon.ended === undefined && !this.#connected;
  }

  /** The lock is asked for before the attempt to connect: whoever holds it and finds nobody there may start. */
  #tryLock(): void {
    prepareDirectories(this.#source.places);
    const attempt = this.#attemptLock();
    if (attempt.kind === 'taken') {
      this.#sawAnotherStart = true;
      return;
    }
    this.#lock = attempt.lock;
    if (attempt.tookOver) this.#sawAnotherStart = false;
  }

  #attemptLock(): LockAttempt {
    const { places, nonce } = this.#source;
    try {
      return attemptLock(places.startLock, nonce);
    } catch (error) {
      if (!isErrno(error)) throw error;
      throw unavailable(`cannot write ${places.startLock} (${error.code})`, 'Make its directory writable.');
    }
  }

  #start(): void {
    const { launcher, environment, places } = this.#source;
    if (this.#sawAnotherStart) throw this.#failure('another call tried to start contextd and failed');
    this.#daemon = startDaemon(launcher, environment, places.logFile);
    if (this.#daemon.pid !== 0) this.#lock?.share(this.#daemon.pid);
  }

  #giveUpWhenOver(): void {
    const now = performance.now();
    const ended = this.#daemon?.ended;
    if (ended !== undefined) this.#deadline = Math.min(this.#deadline, now + OTHER_START_LIMIT_MS);
    if (this.#daemon?.pid !== 0 && now < this.#deadline) return;
    if (ended === undefined) throw this.#failure(`contextd did not answer within ${START_LIMIT_MS} ms of its start`);
    throw this.#failure(`${this.#source.launcher} could not start (${ended})`);
  }

  #failure(message: string): ContextdError {
    return unavailable(message, `See ${this.#source.places.logFile}; \`ctxd doctor\` names what is missing.`);
  }
}

function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(cancelled());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  setTimeout(resolve, waitMs);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

function unavailable(message: string, remedy: string): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', message, { remedy });
}
