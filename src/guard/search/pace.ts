import type { Clock } from '../../core/clock.ts';

/** Background work: milliseconds of work, then a pause, so that it takes at most a fifth of one processor. */
const IDLE_WORK_MS = 1;
const IDLE_PAUSE_MS = 4;
/** Milliseconds of work at a time if somebody waits for the end of the search; timers run in between. */
const HURRY_WORK_MS = 20;

interface PacedWork {
  readonly clock: Clock;
  /** Answers the reports that are due. Returns whether others wait: the search goes on without a break until they are due. */
  readonly answerReports: () => boolean;
  /** Whether nothing is left. */
  readonly isDone: () => boolean;
  /** Does a small part of the work. Must not throw. */
  readonly step: () => void;
}

/** When the search works: without a break while somebody waits for it, otherwise a little at a time. */
export class Pace {
  readonly #work: PacedWork;
  readonly #waiting: (() => void)[] = [];
  #isWorking = false;
  #timer: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;
  #isClosed = false;

  constructor(work: PacedWork) {
    this.#work = work;
  }

  /** Whether somebody waits for the end of the search. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Searches for at most `milliseconds`, and longer as long as reports wait; then goes on in the background. */
  work(milliseconds: number): void {
    if (this.#isWorking) return;
    const { clock, answerReports, isDone, step } = this.#work;
    const until = clock.monotonic() + milliseconds;
    this.exclusively(() => {
      for (;;) {
        const isAwaited = answerReports();
        if (isDone() || (!isAwaited && clock.monotonic() >= until)) break;
        step();
      }
    });
    if (isDone()) for (const onDone of this.#waiting.splice(0)) onDone();
    this.schedule();
  }

  /** Calls `onDone` when nothing is left to be searched, and hurries. */
  whenDone(onDone: () => void): void {
    this.#waiting.push(onDone);
    this.schedule();
  }

  /** Stops the background work. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimers();
    for (const onDone of this.#waiting.splice(0)) onDone();
  }

  /** Keeps `work` from starting within `action`, which may be interrupted by requests that ask for it. */
  exclusively(action: () => void): void {
    const wasWorking = this.#isWorking;
    this.#isWorking = true;
    try {
      action();
    } finally {
      this.#isWorking = wasWorking;
    }
  }

  /** Call when there is new work. */
  schedule(): void {
    if (this.#isClosed || this.#isWorking || this.#immediate !== null) return;
    if (this.#waiting.length > 0 || this.#work.answerReports()) {
      this.#stopTimers();
      this.#immediate = setImmediate(() => this.#workFromTimer(HURRY_WORK_MS));
    } else if (!this.#work.isDone()) {
      this.#timer ??= setTimeout(() => this.#workFromTimer(IDLE_WORK_MS), IDLE_PAUSE_MS).unref();
    }
  }

  #workFromTimer(milliseconds: number): void {
    this.#stopTimers();
    this.work(milliseconds);
  }

  #stopTimers(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timer = null;
    this.#immediate = null;
  }
}
