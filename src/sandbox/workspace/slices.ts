import type { Clock } from '../../core/clock.ts';

/** Milliseconds of work at a time when nobody waits, and between two such times: a fifth of one processor at most. */
const IDLE_WORK_MS = 1;
const IDLE_PAUSE_MS = 4;
/** Milliseconds of work at a time when somebody waits. */
const HURRY_WORK_MS = 4;
/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 8;

/** Goes on with `work` for at most about `milliseconds`; true when it is done. */
export function drive(work: Generator<void, void>, clock: Clock, milliseconds: number): boolean {
  const until = clock.monotonic() + milliseconds;
  for (let step = 1; ; step++) {
    if (work.next().done === true) return true;
    if (step % STEPS_PER_LOOK === 0 && clock.monotonic() >= until) return false;
  }
}

/** Drives work that stops now and then, in the foreground for a time, in the background in slices. */
export class Slices {
  readonly #clock: Clock;
  readonly #work: () => Generator<void, void>;
  #current: Generator<void, void> | null = null;
  #timeout: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  /** `work` is called again whenever there is something to do. */
  constructor(clock: Clock, work: () => Generator<void, void>) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Works at most about `milliseconds`. True when nothing is left to do. */
  runFor(milliseconds: number): boolean {
    this.#current ??= this.#work();
    const isDone = drive(this.#current, this.#clock, milliseconds);
    if (isDone) this.#finish();
    return isDone;
  }

  /** Goes on in the background; does not keep the process alive. */
  goOn(): void {
    if (this.#timeout !== null || this.#immediate !== null || this.#isClosed) return;
    this.#timeout = setTimeout(() => this.#slice(IDLE_WORK_MS), IDLE_PAUSE_MS).unref();
  }

  /** Resolves when nothing is left to do, which is hurried. */
  wait(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#stopTimers();
    this.#immediate = setImmediate(() => this.#slice(HURRY_WORK_MS));
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.return();
    this.#finish();
  }

  #slice(milliseconds: number): void {
    this.#stopTimers();
    if (this.runFor(milliseconds)) return;
    if (this.#waiting.length === 0) this.goOn();
    else this.#immediate = setImmediate(() => this.#slice(HURRY_WORK_MS));
  }

  #finish(): void {
    this.#current = null;
    this.#stopTimers();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #stopTimers(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timeout = null;
    this.#immediate = null;
  }
}
