import type { Clock, Timer } from '../core/clock.ts';

export interface PacedWorkDeps<T> {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timer: Timer;
  work(subject: T): Promise<void>;
  onFailure(thrown: unknown): void;
}

/** The pause after work, as a multiple of the time that it took. */
const PAUSE_TIMES = 10;
/** How often in a row there is no other pause. */
const QUICK_RUNS = 3;
/** Milliseconds of the shortest pause after that, doubled each time up to the longest. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Milliseconds after the end of a pause without a request, after which a row has ended. */
const CALM_MS = 60_000;

/**
 * Work that another program asks for whenever it likes, such as to read its lists again. It is done once at a time, soon at
 * first, and with growing pauses if the requests go on. After each request the work is done once more, for what was named last.
 */
export class PacedWork<T extends object> {
  readonly #deps: PacedWorkDeps<T>;
  #wanted: T | null = null;
  #isUnderWay = false;
  #isWaiting = false;
  #runs = 0;
  #pauseUntil = 0;

  constructor(deps: PacedWorkDeps<T>) {
    this.#deps = deps;
  }

  request(subject: T): void {
    this.#wanted = subject;
    this.#proceed();
  }

  /** What was requested and has not begun is not of use any more. */
  forget(): void {
    this.#wanted = null;
  }

  #proceed(): void {
    if (this.#wanted === null || this.#isUnderWay || this.#isWaiting) return;
    const { clock, timer } = this.#deps;
    const waitMs = Math.ceil(this.#pauseUntil - clock.monotonic());
    if (waitMs <= 0) {
      void this.#run(this.#wanted);
      return;
    }
    this.#isWaiting = true;
    timer.after(waitMs, () => {
      this.#isWaiting = false;
      if (this.#wanted !== null) void this.#run(this.#wanted);
    });
  }

  async #run(subject: T): Promise<void> {
    const { clock, work, onFailure } = this.#deps;
    const startedAt = clock.monotonic();
    this.#wanted = null;
    this.#isUnderWay = true;
    this.#runs = startedAt - this.#pauseUntil >= CALM_MS ? 1 : this.#runs + 1;
    await work(subject).catch(onFailure);
    const endedAt = clock.monotonic();
    this.#pauseUntil = endedAt + Math.max(PAUSE_TIMES * (endedAt - startedAt), this.#shortestPauseMs());
    this.#isUnderWay = false;
    this.#proceed();
  }

  #shortestPauseMs(): number {
    const slow = this.#runs - QUICK_RUNS;
    return slow < 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** slow);
  }
}
