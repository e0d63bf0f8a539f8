import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/** No start takes this long, milliseconds: an older lock is stale, even if its pid is in use again. */
const STALE_AFTER_MS = 30_000;
/** The width of each of the two pids, padded so that the second one can be overwritten in place. */
const PID_CHARS = 11;

/** The outcome of an attempt to take the lock. `tookOver`: its last holder died with it. */
export type LockAttempt = { kind: 'held'; lock: StartLock; tookOver: boolean } | { kind: 'taken' };

/**
 * The right to start a daemon: a file created with O_EXCL that names the process which starts the daemon and, once it is
 * started, the daemon. The lock is stale if neither is alive.
 */
export class StartLock {
  readonly #path: string;
  readonly #nonce: string;

  constructor(path: string, nonce: string) {
    this.#path = path;
    this.#nonce = nonce;
  }

  /** Adds the daemon that is starting: the lock is held as long as it lives, even if this process dies. */
  share(pid: number): void {
    if (readHolder(this.#path)?.nonce !== this.#nonce) return;
    const file = openSync(this.#path, 'r+');
    writeSync(file, formatPid(pid), PID_CHARS);
    closeSync(file);
  }

  release(): void {
    if (readHolder(this.#path)?.nonce === this.#nonce) rmSync(this.#path, { force: true });
  }
}

/** What the nonce of a daemon that is being replaced begins with. */
const REPLACED = 'replaced_';

/** As `attemptLock`, for a daemon that is being replaced: `isBeingReplaced` is true as long as it has the lock. */
export function attemptReplacement(path: string, nonce: string): LockAttempt {
  return attemptLock(path, `${REPLACED}${nonce}`);
}

/** True if a living daemon that is being replaced has the lock. */
export function isBeingReplaced(path: string): boolean {
  const holder = readHolder(path);
  return holder?.nonce.startsWith(REPLACED) === true && !isStale(holder);
}

/** Tries once to take the lock, without waiting. Throws a system error if the directory cannot be written. */
export function attemptLock(path: string, nonce: string): LockAttempt {
  const content = `${formatPid(process.pid)}${formatPid(0)}${nonce}`;
  if (createFile(path, content)) {
    return { kind: 'held', lock: new StartLock(path, nonce), tookOver: false };
  }
  const holder = readHolder(path);
  if (holder === undefined || !isStale(holder) || !removeStale(path, holder)) return { kind: 'taken' };
  if (!createFile(path, content)) return { kind: 'taken' };
  return { kind: 'held', lock: new StartLock(path, nonce), tookOver: true };
}

/**
 * Two processes that find the same stale lock must not both remove it: the second would remove the new lock of the first.
 * A ticket file named after the stale lock decides: only the process that creates the ticket may remove that lock.
 */
function removeStale(path: string, holder: Holder): boolean {
  const ticket = `${path}.${holder.nonce}`;
  if (!createFile(ticket, '')) {
    if (ageMs(ticket) > STALE_AFTER_MS) rmSync(ticket, { force: true });
    return false;
  }
  const same = readHolder(path)?.nonce === holder.nonce;
  if (same) rmSync(path, { force: true });
  rmSync(ticket, { force: true });
  return same;
}

interface Holder {
  /** Empty until the holder has written them. */
  pids: readonly number[];
  /** Identifies the lock: no other lock has the same. */
  nonce: string;
  ageMs: number;
}

function readHolder(path: string): Holder | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    const [starter, daemon] = [text.slice(0, PID_CHARS), text.slice(PID_CHARS, 2 * PID_CHARS)].map(Number);
    const pids = [starter, daemon].filter(
      (pid): pid is number => pid !== undefined && Number.isInteger(pid) && pid > 0,
    );
    return { pids, nonce: text.slice(2 * PID_CHARS).replace(/\W/g, ''), ageMs: ageMs(path) };
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isStale(holder: Holder): boolean {
  if (holder.ageMs > STALE_AFTER_MS) return true;
  return holder.pids.length > 0 && !holder.pids.some(isAlive);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
}

/** Returns false if the file exists. */
function createFile(path: string, content: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, content);
    closeSync(file);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Milliseconds since the file was last written; 0 if it is gone. */
function ageMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 0 : Date.now() - stats.mtimeMs;
}

function formatPid(pid: number): string {
  return String(pid).padEnd(PID_CHARS);
}
