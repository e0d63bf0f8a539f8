import type { Identity } from '../machine/identity.ts';

/** What a run may leave of the disk's free space. */
const RESERVE_BYTES = 512 * 1024 * 1024;
/** A storage over its limit may still be used, to remove something: this much on top. */
const SLACK_BYTES = 1024 * 1024;
/** What the kernel uses for a file besides its content; the keeper counts the same. */
const ENTRY_BYTES = 1024;
/** Measuring takes at most a tenth of the time, and never comes more often than every two seconds. */
const REST_FACTOR = 10;
const REST_MIN_MS = 2_000;
/** Failed measurements in a row after which what runs must end: the command makes its storage impossible to measure. */
const FAILURES_MAX = 3;
/** Milliseconds without a measurement after which it must, even if none could be started: an update takes less. */
const UNMEASURED_MAX_MS = 600_000;
/**
 * How many rests may pass without a measurement while something runs: others on the same disk may free as much as the
 * area grows.
 */
const RESTS_MAX = 10;

/** What is free on the file system of the storage. */
export interface FreeSpace {
  readonly bytes: number;
  /** Of files: how many there can still be. */
  readonly entries: number;
}

export function freeIn(fs: { bavail: number; bsize: number; ffree: number }): FreeSpace {
  return { bytes: fs.bavail * fs.bsize, entries: fs.ffree };
}

interface Measured {
  readonly bytes: number;
  /** At the time. */
  readonly free: FreeSpace;
  readonly atMs: number;
}

/**
 * The HOME and /tmp of a session, or the caches of a project: what it holds and how much that may become. Reading the
 * free space of the file system costs microseconds and shows how much anything can have grown since the last
 * measurement, so the directory itself is rarely walked unless it may be over its limit. Times are monotonic
 * milliseconds.
 */
export class Area {
  /** The directories that are measured. */
  readonly dirs: readonly string[];
  readonly identity: Identity;
  /** Called if a run has to end because the area is too large. */
  readonly runs = new Set<() => void>();
  readonly #maxBytes: number;
  readonly #runMaxBytes: number;
  #measured: Measured | null = null;
  /** Since the last measurement that succeeded: `count` of them had begun. Monotonic milliseconds. */
  #failed: { readonly count: number; readonly sinceMs: number; readonly atMs: number } | null = null;
  #limitBytes: number;
  #restMs = 0;

  /** `runMaxBytes`: what it may hold while something runs; `maxBytes`: what it may keep after that. */
  constructor(dirs: readonly string[], identity: Identity, limits: { maxBytes: number; runMaxBytes: number }) {
    this.dirs = dirs;
    this.identity = identity;
    this.#maxBytes = limits.maxBytes;
    this.#runMaxBytes = limits.runMaxBytes;
    this.#limitBytes = limits.runMaxBytes;
  }

  /** The most that it can hold now. Infinity if it was never measured. */
  mostBytes(free: FreeSpace): number {
    if (this.#measured === null) return Infinity;
    const { bytes, free: then } = this.#measured;
    return bytes + Math.max(0, then.bytes - free.bytes) + Math.max(0, then.entries - free.entries) * ENTRY_BYTES;
  }

  /** True if it must be measured to know whether what runs may go on. */
  isSuspect(free: FreeSpace, nowMs: number): boolean {
    if (this.#failed !== null && nowMs - this.#failed.atMs < REST_MIN_MS) return false;
    const ageMs = nowMs - (this.#measured?.atMs ?? Number.NEGATIVE_INFINITY);
    if (ageMs > this.#restMs * RESTS_MAX) return true;
    return ageMs > this.#restMs && this.mostBytes(free) > this.#limitBytes;
  }

  /** True if it must be measured to know whether something is to be dropped, now that nothing runs. */
  mayBeOver(free: FreeSpace): boolean {
    return this.mostBytes(free) > this.#maxBytes;
  }

  /**
   * A measurement failed. `hasBegun`: it was started. True if what runs must end: the disk shows that it can be too large, or it
   * cannot be measured for too long. What a command frees elsewhere hides from the disk what it writes here.
   */
  failed(hasBegun: boolean, free: FreeSpace, nowMs: number): boolean {
    const { count = 0, sinceMs = nowMs } = this.#failed ?? {};
    this.#failed = { count: count + (hasBegun ? 1 : 0), sinceMs, atMs: nowMs };
    const canBeOver = this.#measured !== null && this.mostBytes(free) > this.#limitBytes;
    return canBeOver || this.#failed.count >= FAILURES_MAX || nowMs - sinceMs > UNMEASURED_MAX_MS;
  }

  get isOver(): boolean {
    return (this.#measured?.bytes ?? 0) > this.#limitBytes;
  }

  /** A measurement that began at `startedMs`. `free`: before it, because what is written meanwhile may not be in `bytes`. */
  note(bytes: number, free: FreeSpace, startedMs: number, nowMs: number): void {
    // What it held before anything ran in it is no reason to end what runs now.
    if (this.#measured === null || this.runs.size === 0) this.#limitBytes = this.#limitFor(bytes, free.bytes);
    this.#measured = { bytes, free, atMs: nowMs };
    this.#failed = null;
    this.#restMs = Math.max(REST_MIN_MS, (nowMs - startedMs) * REST_FACTOR);
  }

  #limitFor(bytes: number, freeBytes: number): number {
    const room = Math.max(0, freeBytes - RESERVE_BYTES);
    return Math.max(Math.min(this.#runMaxBytes, bytes + room), bytes + SLACK_BYTES);
  }
}
