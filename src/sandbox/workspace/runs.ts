import { statfsSync } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { isErrno } from '../../core/errors.ts';
import type { Protection } from './protection.ts';
import { parentOf, type RawPath, toSystem } from './raw-path.ts';

/** Milliseconds by which a file's time may lie before the clock: the kernel stamps with its last tick, up to 10 ms ago. */
const SLACK_MS = 15;
/** Milliseconds by which it may lie after it: never, but for what the clock's whole milliseconds leave out. */
const LATE_MS = 2;

/** Names kept for one report; the log has them all. */
export const REPORTED_MAX = 1000;

/** File systems whose ctime comes from this machine's clock and which stamp what is renamed, by statfs type. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e],
]);

/** A run that goes on, or one whose scan does. */
export interface Run {
  readonly protection: Protection;
  readonly began: Moment;
  ended: Moment | null;
  /** Were protected in it until they were moved aside or replaced. */
  readonly exposed: Set<RawPath>;
  /** What was quarantined and may be its doing, by path, until it is reported. */
  readonly found: Map<RawPath, SetAside>;
  isReported: boolean;
}

interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * Whose doing something is. A run can have made only what its mounts left open and what bears a time between its
 * beginning and its end; ctime cannot be set from inside. What no run can have made is a person's, and stays. Where
 * times prove nothing (a network file system, a clock set back) everything open counts as the run's.
 */
export class Runs {
  readonly #clock: Clock;
  readonly #areTimesTrue: boolean;
  readonly #active = new Set<Run>();
  readonly #ended = new Set<Run>();
  readonly #late = new Map<RawPath, SetAside>();
  #begun = 0;

  constructor(clock: Clock, workspace: RawPath) {
    this.#clock = clock;
    this.#areTimesTrue = isLocal(workspace);
  }

  /** Runs whose sandboxes may be alive. */
  get active(): number {
    return this.#active.size;
  }

  /** How many runs began so far. */
  get begun(): number {
    return this.#begun;
  }

  begin(protection: Protection): Run {
    const run = {
      protection,
      began: this.#moment(),
      ended: null,
      exposed: new Set<RawPath>(),
      found: new Map<RawPath, SetAside>(),
      isReported: false,
    };
    this.#active.add(run);
    this.#begun += 1;
    return run;
  }

  /** The sandbox is dead; what it did may still be found. */
  end(run: Run): void {
    if (!this.#active.delete(run)) return;
    run.ended = this.#moment();
    this.#ended.add(run);
  }

  /** Everything the run can have touched was looked at. */
  settle(run: Run): void {
    this.#ended.delete(run);
  }

  forget(run: Run): void {
    this.#active.delete(run);
  }

  /** Whether a command or tool is at work at this moment: it may hold a file mapped, and change it without a new time. */
  get isAnyActive(): boolean {
    return this.#active.size > 0;
  }

  /** Whether there is a run to look for, and times that tell what it did. */
  get canTell(): boolean {
    return this.#areTimesTrue && this.#active.size + this.#ended.size > 0;
  }

  /** Whether any run that is not settled can have stamped something with this ctime. */
  mayHaveStamped(ctimeMs: number): boolean {
    const now = this.#moment();
    for (const run of this.#live()) {
      if (!this.#areTimesTrue || isSetBack(run.began, now)) return true;
      const isBefore = ctimeMs < run.began.wallMs - SLACK_MS;
      const isAfter = run.ended !== null && ctimeMs > run.ended.wallMs + LATE_MS;
      if (!isBefore && !isAfter) return true;
    }
    return false;
  }

  /** Whether there are runs that are not settled, and none of them could change this. */
  areAllShutOut(path: RawPath, identity: string | null): boolean {
    for (const run of this.#live()) if (!isShutOut(run, path, identity)) return false;
    return this.#active.size + this.#ended.size > 0;
  }

  /** Whether each run had this inode read-only somewhere: then it was only moved, not changed. */
  haveAllKept(identity: string): boolean {
    for (const run of this.#live()) if (!run.protection.cover.identities.has(identity)) return false;
    return true;
  }

  /** Reports what was quarantined to every run that can have made it. */
  report(path: RawPath, identity: string, setAside: SetAside): void {
    for (const run of this.#live()) {
      if (!isShutOut(run, path, identity)) addUpTo(run.isReported ? this.#late : run.found, path, setAside);
      run.exposed.add(path);
    }
  }

  /** What was found for an ended run so far, with what was found too late for the runs before it. */
  collect(run: Run): SetAside[] {
    const found = new Map([...run.found, ...this.#late]);
    this.#late.clear();
    run.isReported = true;
    return [...found.values()];
  }

  /** For a run whose report is lost: the next one has what was found. */
  postpone(run: Run): void {
    for (const [path, setAside] of run.found) addUpTo(this.#late, path, setAside);
    run.isReported = true;
  }

  *#live(): Generator<Run> {
    yield* this.#active;
    yield* this.#ended;
  }

  #moment(): Moment {
    return { wallMs: this.#clock.now(), monotonicMs: this.#clock.monotonic() };
  }
}

/**
 * Whether a run's mounts keep it from changing what is at `path`: mounted itself, or behind something that is. With null
 * for the identity: kept, unless something else was put there.
 */
export function isShutOut(run: Run, path: RawPath, identity: string | null): boolean {
  if (run.exposed.has(path)) return false;
  const mounted = run.protection.cover.mounted.get(path);
  if (mounted !== undefined) return identity === null || mounted === identity;
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
    if (run.protection.cover.mounted.has(parent)) return !run.exposed.has(parent);
  }
  return false;
}

function addUpTo(found: Map<RawPath, SetAside>, path: RawPath, setAside: SetAside): void {
  if (found.size <= REPORTED_MAX || found.has(path)) found.set(path, setAside);
}

function isSetBack(began: Moment, now: Moment): boolean {
  return now.wallMs - began.wallMs < now.monotonicMs - began.monotonicMs - SLACK_MS;
}

function isLocal(path: RawPath): boolean {
  try {
    return LOCAL_TYPES.has(statfsSync(toSystem(path)).type);
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}
