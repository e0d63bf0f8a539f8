import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { FILE_TIME_SLACK_MS, hasLocalTimes } from '../../fs/file-time.ts';
import { parentOf, type RawPath, toSystem } from '../../fs/raw-path.ts';
import { type Moment, momentOf } from '../contract/moment.ts';
import type { Cover } from '../contract/protection.ts';

/** Milliseconds by which a file's time may be later than the clock, because the clock has whole milliseconds. */
const LATE_MS = 2;

/** Names kept for one report; the log has all of them. */
export const REPORTED_MAX = 1000;

/** A command or a tool's work that goes on, or whose changes are still being searched. */
export interface Run {
  /** What its mounts protect. */
  readonly cover: Cover;
  readonly began: Moment;
  /** When its sandbox was known to be dead; null while it goes on. */
  ended: Moment | null;
  /** Paths that its mounts no longer protect, because they were moved aside or replaced. */
  readonly exposed: Set<RawPath>;
  /** Paths that were set aside and that it may have made, until they are reported. */
  readonly found: Map<RawPath, SetAside>;
  /**
   * Paths that were set aside while it went on and that it may have made. What appears there again may be a person's, and is
   * left until the run ends.
   */
  readonly setAside: Set<RawPath>;
  /** Whether what it makes is searched for while it goes on, as for a job that may run for hours. */
  readonly isSearched: boolean;
  /** Paths that it may have made and that were left until it ends. */
  readonly left: Set<RawPath>;
  isReported: boolean;
}

/**
 * Decides whether a run may have made or changed a file. A run can only have done so if its mounts did not protect the file
 * and the file's ctime lies between the beginning and the end of the run: nothing inside a sandbox can set a ctime. A file
 * that no run can have changed is the person's and stays. If times prove nothing (on a network file system, or after the
 * clock was set back), every unprotected file counts as changed by the run.
 *
 * A run is active until it ends and live until it is settled, which is when everything that it may have changed has been
 * searched. Runs are begun and ended by another thread: `catchUp` takes in its messages before each decision, so that a
 * decision about a file knows every run that can have changed it.
 */
export class Runs {
  readonly #clock: Clock;
  readonly #catchUp: () => void;
  readonly #onFound: (run: Run, found: SetAside) => void;
  readonly #areTimesTrue: boolean;
  readonly #live = new Set<Run>();
  /** Found for runs whose reports were gone already, by path. */
  readonly #late = new Map<RawPath, SetAside>();
  #begun = 0;

  /** `onFound`: called for each path that was set aside and that a run may have made that still goes on. */
  constructor(
    clock: Clock,
    workspace: RawPath,
    catchUp: () => void,
    onFound: (run: Run, found: SetAside) => void = () => {},
  ) {
    this.#clock = clock;
    this.#catchUp = catchUp;
    this.#onFound = onFound;
    this.#areTimesTrue = hasLocalTimes(toSystem(workspace));
  }

  /** How many runs have begun so far. */
  get begun(): number {
    this.#catchUp();
    return this.#begun;
  }

  /** `at`: before the sandbox could change anything, by `beforeChanges`. */
  begin(cover: Cover, at: Moment, isSearched: boolean): Run {
    const run = {
      cover,
      began: at,
      ended: null,
      isReported: false,
      isSearched,
      exposed: new Set<RawPath>(),
      found: new Map(),
      setAside: new Set<RawPath>(),
      left: new Set<RawPath>(),
    };
    this.#live.add(run);
    this.#begun += 1;
    return run;
  }

  /** `at`: when the sandbox was dead. What it did may still be found. */
  end(run: Run, at: Moment): void {
    run.ended ??= at;
  }

  /** Everything that the run may have changed has been searched, or its sandbox never started. */
  settle(run: Run): void {
    this.#live.delete(run);
  }

  /** Whether a command or tool works now. It may have a file mapped, and change it without a new ctime. */
  get isAnyActive(): boolean {
    return this.active.length > 0;
  }

  /** Whether any run is live and times show what it did. */
  get canTell(): boolean {
    this.#catchUp();
    return this.#areTimesTrue && this.#live.size > 0;
  }

  /** Whether a live run can have given a file this ctime. */
  mayHaveStamped(ctimeMs: number): boolean {
    this.#catchUp();
    for (const run of this.#live) if (this.#mayStamp(run, ctimeMs)) return true;
    return false;
  }

  /** Whether a live run can have given this ctime to the file at `path`: one whose mounts left the path open. */
  mayHaveStampedAt(path: RawPath, identity: string, ctimeMs: number): boolean {
    this.#catchUp();
    return [...this.#live].some((run) => !isShutOut(run, path, identity) && this.#mayStamp(run, ctimeMs));
  }

  #mayStamp(run: Run, ctimeMs: number): boolean {
    if (!this.#areTimesTrue || isSetBack(run.began, momentOf(this.#clock))) return true;
    return ctimeMs >= run.began.wallMs - FILE_TIME_SLACK_MS && !isAfter(run, ctimeMs);
  }

  /** Whether only runs that still go on can have given a file this ctime. Each of them searches again when it ends. */
  isOfActiveRuns(ctimeMs: number): boolean {
    this.#catchUp();
    if (!this.#areTimesTrue) return false;
    return [...this.#live].every((run) => run.ended === null || isAfter(run, ctimeMs)) && this.isAnyActive;
  }

  /** Whether a run that still goes on can have given a file this ctime. */
  mayBeOfActiveRun(ctimeMs: number): boolean {
    this.#catchUp();
    return [...this.#live].some((run) => run.ended === null && this.#mayStamp(run, ctimeMs));
  }

  /** Whether a live run had begun at this time. */
  hadBegun(wallMs: number): boolean {
    this.#catchUp();
    return [...this.#live].some((run) => run.began.wallMs <= wallMs);
  }

  /** Whether there are live runs, and the mounts of each kept it from changing this path. */
  areAllShutOut(path: RawPath, identity: string | null): boolean {
    this.#catchUp();
    for (const run of this.#live) if (!isShutOut(run, path, identity)) return false;
    return this.#live.size > 0;
  }

  /** Whether every live run had this inode mounted read-only somewhere. Then the inode was moved but not changed. */
  haveAllKept(identity: string): boolean {
    this.#catchUp();
    for (const run of this.#live) if (!run.cover.identities.has(identity)) return false;
    return true;
  }

  /** Reports a set-aside path to every live run that can have made it. */
  report(path: RawPath, identity: string, setAside: SetAside): void {
    for (const run of this.#live) {
      if (!isShutOut(run, path, identity)) {
        addUpTo(run.isReported ? this.#late : run.found, path, setAside);
        if (run.ended === null) {
          run.setAside.add(path);
          this.#onFound(run, setAside);
        }
      }
      run.exposed.add(path);
    }
  }

  /** Reports a path that stays, to every live run that can have made it; if none is live, with the next report. */
  notice(path: RawPath, identity: string, found: SetAside): void {
    if (this.#live.size === 0) addUpTo(this.#late, path, found);
    for (const run of this.#live) {
      if (isShutOut(run, path, identity)) continue;
      addUpTo(run.isReported ? this.#late : run.found, path, found);
      if (run.ended === null) this.#onFound(run, found);
    }
  }

  /**
   * Leaves what is at this path until the runs that may have made it have ended, if a person's program may have made it: one of
   * the runs is a call, which is soon searched once; the path was set aside before; or a mount kept the run from removing what
   * was there. Nothing tells the two writers apart. Returns false if a run that has ended may have made it.
   */
  leaveUntilEnd(path: RawPath, identity: string, ctimeMs: number): boolean {
    this.#catchUp();
    const makers = [...this.#live].filter((run) => !isShutOut(run, path, identity) && this.#mayStamp(run, ctimeMs));
    const mayBePersons = (run: Run) => !run.isSearched || run.setAside.has(path) || run.cover.mounted.has(path);
    if (makers.some(({ ended }) => ended !== null) || !makers.some(mayBePersons)) return false;
    for (const run of makers) run.left.add(path);
    return true;
  }

  /** The runs that go on. */
  get active(): readonly Run[] {
    this.#catchUp();
    return [...this.#live].filter(({ ended }) => ended === null);
  }

  /** Returns what was found for an ended run so far, and what was found for earlier runs after their reports. */
  collect(run: Run): SetAside[] {
    const found = new Map([...run.found, ...this.#late]);
    this.#late.clear();
    run.isReported = true;
    return [...found.values()];
  }

  /** For a run whose report is lost: the next report includes what was found. */
  postpone(run: Run): void {
    for (const [path, setAside] of run.found) addUpTo(this.#late, path, setAside);
    run.isReported = true;
  }
}

/**
 * Whether a run's mounts keep it from changing `path`: the path is mounted, or lies below a mounted path and in no writable
 * directory below that. With null for the
 * identity: whether they do so unless another file took its place.
 */
export function isShutOut(run: Run, path: RawPath, identity: string | null): boolean {
  if (run.exposed.has(path)) return false;
  const mounted = run.cover.mounted.get(path);
  if (mounted !== undefined) return identity === null || mounted === identity;
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
    if (run.cover.mounted.has(parent)) return !run.exposed.has(parent);
    if (run.cover.open.has(parent)) return false;
  }
  return false;
}

function addUpTo(found: Map<RawPath, SetAside>, path: RawPath, setAside: SetAside): void {
  if (found.size <= REPORTED_MAX || found.has(path)) found.set(path, setAside);
}

/** Whether a file with this ctime was changed after the end of a run. */
function isAfter({ ended }: Run, ctimeMs: number): boolean {
  return ended !== null && ctimeMs > ended.wallMs + LATE_MS;
}

function isSetBack(began: Moment, now: Moment): boolean {
  return now.wallMs - began.wallMs < now.monotonicMs - began.monotonicMs - FILE_TIME_SLACK_MS;
}
