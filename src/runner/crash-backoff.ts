/** Milliseconds after the second failure in a row; doubled with each further one. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;

/**
 * When a tool process that keeps failing may be started again. The first failure costs nothing: the next call starts
 * a new process at once. A call that was answered resets it. Times are monotonic milliseconds.
 */
export class CrashBackoff {
  #failures = 0;
  #notBefore = 0;

  failed(nowMs: number): void {
    this.#failures += 1;
    if (this.#failures < 2) return;
    this.#notBefore = nowMs + Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 2));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Milliseconds to wait before the next start; 0: start now. */
  waitMs(nowMs: number): number {
    return Math.max(0, Math.ceil(this.#notBefore - nowMs));
  }

  get failures(): number {
    return this.#failures;
  }
}
