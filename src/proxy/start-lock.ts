import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/** No start takes this long, milliseconds: an older lock is left over, whoever has its pid now. */
const STALE_AFTER_MS = 30_000;
/** Characters of each of the two pids, padded, so that the second can be written in place. */
const PID_CHARS = 11;

/** What asking for the lock came to. `tookOver`: its last holder died holding it. */
export type LockAttempt = { kind: 'held'; lock: StartLock; tookOver: boolean } | { kind: 'taken' };

/**
 * The right to start a daemon: a file made with O_EXCL that names the process which starts one and, from then on, the
 * one that was started. It is stale when neither lives.
 */
export class StartLock {
  readonly #path: string;
  readonly #nonce: string;

  constructor(path: string, nonce: string) {
    this.#path = path;
    this.#nonce = nonce;
  }

  /** The daemon is being started: the lock stays taken as long as it lives, also when this process dies. */
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

/** Tries once, waits for nothing. Throws a system error when the directory cannot be written. */
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
 * Two that find the same stale lock must not both remove it: the second would remove the first one's new lock. The
 * ticket's name says which lock is meant, so one of them gets it, and while it is held nobody else removes that lock.
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
  /** None until the holder has written them. */
  pids: readonly number[];
  /** Which lock this is: no other ever has the same. */
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

/** False when the file is there already. */
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

/** Milliseconds since the file was last written; 0 when it is gone. */
function ageMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 0 : Date.now() - stats.mtimeMs;
}

function formatPid(pid: number): string {
  return String(pid).padEnd(PID_CHARS);
}
