import { fchmodSync, fstatSync, mkdtempSync, openSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { isErrno } from '../core/errors.ts';

/** File systems that take ctime from this machine's clock and update it on a rename, by statfs type. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
]);
/**
 * Milliseconds by which the time of a file may still be earlier than `earliestFileTime`: since Linux 6.13 some file systems give
 * times between two ticks, and others the time of the last tick.
 */
export const FILE_TIME_SLACK_MS = 15;
/** The lag in milliseconds that is taken for granted where it cannot be measured. */
const UNMEASURED_LAG_MS = 100;
/** Milliseconds between two looks at whether a time is settled: about a tick. */
const SETTLE_MS = 5;
/** A ctime this many milliseconds ahead comes from a clock that was set back. */
const AHEAD_MAX_MS = 1_000;
const MODE = 0o600;

/** Undefined before the first question; null where no such file can be made. */
let probe: number | null | undefined;
let last = { realMs: Number.NaN, lagMs: 0 };

/**
 * The earliest ctime, in milliseconds of this clock, that a file can get from a change after this call. Files get the time of
 * the kernel's last tick, which is up to 10 ms old, and much older while a host keeps the processor that ticks from running: the
 * clock of the program goes on meanwhile. So it is not calculated: the kernel is asked for the ctime that it gives now.
 */
export function earliestFileTime(clock: Pick<Clock, 'now'>): number {
  const now = clock.now();
  return now - lagOf(Date.now());
}

/**
 * Whether a file may have changed again without a new ctime since it was read. `readAtMs`: what `earliestFileTime` said before
 * the read.
 */
export function mayChangeUnseen(ctimeMs: number, readAtMs: number): boolean {
  return ctimeMs > readAtMs - FILE_TIME_SLACK_MS;
}

/**
 * Calls `then` as soon as a change of a file with this ctime gives it a later one; at once if it does now, and if the clock was
 * set back since.
 */
export function whenSettled(ctimeMs: number, clock: Pick<Clock, 'now'>, then: () => void): void {
  const isAhead = ctimeMs > clock.now() + AHEAD_MAX_MS;
  if (isAhead || !mayChangeUnseen(ctimeMs, earliestFileTime(clock))) then();
  else setTimeout(() => whenSettled(ctimeMs, clock, then), SETTLE_MS);
}

/** Whether the times of files show here when they were changed on this machine. */
export function hasLocalTimes(path: string | Buffer): boolean {
  try {
    return LOCAL_TYPES.has(statfsSync(path).type);
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** Within one millisecond the kernel is asked once: an earlier answer is true for a later change too. */
function lagOf(realMs: number): number {
  if (last.realMs !== realMs) last = { realMs, lagMs: measureLag(realMs) };
  return last.lagMs;
}

function measureLag(realMs: number): number {
  if (probe === undefined) probe = openProbe();
  if (probe === null) return UNMEASURED_LAG_MS;
  try {
    // A change of the mode gives a new ctime, also if the mode stays the same.
    fchmodSync(probe, MODE);
    return Math.max(0, realMs - fstatSync(probe).ctimeMs);
  } catch (cause) {
    // Some file systems need space for it, and one may have become read-only.
    if (isErrno(cause)) return UNMEASURED_LAG_MS;
    throw cause;
  }
}

/** A file without a name, so nothing is left of it when the process ends. */
function openProbe(): number | null {
  if (!hasLocalTimes(tmpdir())) return null;
  try {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-time-'));
    try {
      return openSync(join(dir, 'file'), 'wx', MODE);
    } finally {
      rmSync(dir, { recursive: true });
    }
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
