import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Channel } from './channel.ts';
import { attemptConnection, cancelled, socketIdentity } from './connect.ts';
import type { Places } from './environment.ts';
import { attemptLock, type LockAttempt, type StartLock } from './start-lock.ts';

/** The longest a daemon may take until it listens, milliseconds; far more than it takes on a machine that is not overloaded. */
const START_LIMIT_MS = 25_000;
/** A daemon that ends at once may have found another one starting, for example by `ctxd`; that one gets this long. */
const OTHER_START_LIMIT_MS = 2_000;
/** The first and the longest pause between two attempts, milliseconds. A hundred waiting calls must leave the daemon processor time. */
const RETRY_FIRST_MS = 5;
const RETRY_MAX_MS = 50;

/** Which daemon to reach, and how to start it. */
export interface DaemonSource {
  places: Places;
  launcher: string;
  launchWords: readonly string[];
  environment: Record<string, string>;
  /** Identifies this process in the start lock; random. */
  nonce: string;
  signal: AbortSignal;
}

/**
 * Connects to a daemon that was not running a moment ago. Exactly one of the proxies that find no daemon starts one; the
 * others wait for it. Throws DAEMON_UNAVAILABLE if no daemon comes up in time.
 */
export function startAndReach(source: DaemonSource): Promise<Channel> {
  return new Start(source).wait();
}

/**
 * The longest to wait for a daemon that is stopping, which lets its running calls finish, or being replaced, which takes at most 20
 * seconds, and the pause, milliseconds.
 */
const STOPPING_LIMIT_MS = 25_000;
const STOPPING_PAUSE_MS = 20;

/** Waits until the socket `asked`, whose daemon is stopping, has gone. False if it is still there after the limit. */
export async function awaitEnd({ places, signal }: DaemonSource, asked: string): Promise<boolean> {
  const deadline = performance.now() + STOPPING_LIMIT_MS;
  while (socketIdentity(places) === asked) {
    if (performance.now() >= deadline) return false;
    await pause(STOPPING_PAUSE_MS, signal);
  }
  return true;
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
        this.#checkDeadline();
        await pause(waitMs, this.#source.signal);
      }
    } finally {
      if (!this.#isStarting()) this.#lock?.release();
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

  /** True while our daemon is starting. It keeps the lock when we leave, so that no second daemon is started. */
  #isStarting(): boolean {
    return this.#daemon !== undefined && this.#daemon.ended === undefined && !this.#connected;
  }

  /** Takes the lock before the attempt to connect: the holder of the lock may start a daemon if it finds none. */
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
    if (this.#sawAnotherStart) throw this.#failure('another call tried to start contextd and failed');
    this.#daemon = startDaemon(this.#source);
    if (this.#daemon.pid !== 0) this.#lock?.share(this.#daemon.pid);
  }

  #checkDeadline(): void {
    const now = performance.now();
    const ended = this.#daemon?.ended;
    if (ended !== undefined) this.#deadline = Math.min(this.#deadline, now + OTHER_START_LIMIT_MS);
    if (this.#daemon?.pid !== 0 && now < this.#deadline) return;
    if (ended === undefined)
      throw this.#failure(`contextd did not answer within ${START_LIMIT_MS} ms after it was started`);
    throw this.#failure(`${this.#source.launcher} could not start (${ended})`);
  }

  #failure(message: string): ContextdError {
    return unavailable(message, `See ${this.#source.places.logFile}; \`ctxd doctor\` reports what is missing.`);
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

/** A daemon that this process started and that may not be listening yet. */
interface Starting {
  pid: number;
  /** Why the daemon ended, such as "exit code 1"; undefined while it runs. */
  ended: string | undefined;
}

/** Creates the directories a start writes in, with mode 0700. Throws DAEMON_UNAVAILABLE if one cannot be created. */
function prepareDirectories(places: Places): void {
  for (const directory of [places.stateDir, places.runDir]) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!isErrno(error)) throw error;
      throw new ContextdError('DAEMON_UNAVAILABLE', `cannot create the directory ${directory} (${error.code})`, {
        remedy: 'Make its parent writable, or set CONTEXTD_HOME to a directory of your own.',
        details: { path: directory },
      });
    }
  }
}

/**
 * Runs the launcher, which becomes the daemon or starts it, in a session of its own, in `/`, with `environment` alone. Neither runtime lets it inherit
 * descriptors above 2. Its stderr goes to the daemon's log. A launcher that cannot be run counts as ended.
 */
function startDaemon({ launcher, launchWords, environment, places }: DaemonSource): Starting {
  const log = openLog(places.logFile);
  const stdio = ['ignore' as const, 'ignore' as const, log];
  const child = spawn(launcher, launchWords, { cwd: '/', env: environment, detached: true, stdio });
  closeSync(log);
  child.unref();
  return watch(child);
}

function openLog(logFile: string): number {
  try {
    return openSync(logFile, 'a', 0o600);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw unavailable(
      `cannot write ${logFile} (${error.code})`,
      'Make its disk and directory writable, then call again.',
    );
  }
}

function watch(child: ChildProcess): Starting {
  const ended = child.pid === undefined ? 'it cannot be run' : undefined;
  const starting: Starting = { pid: child.pid ?? 0, ended };
  child.on('error', (error) => {
    starting.ended = error.message;
  });
  child.on('exit', (code, signal) => {
    starting.ended = signal === null ? `exit code ${code}` : signal;
  });
  return starting;
}
