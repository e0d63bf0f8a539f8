import type { FetchStep, Progress } from '../messages.ts';

/** Milliseconds between two reports of one step. */
const REPORT_MS = 100;
/** Milliseconds over which a rate is measured. */
const RATE_MS = 1_000;

/** Counts the bytes of the current step and reports how far it is. */
export class Meter {
  readonly #report: (progress: Progress) => void;
  #step: FetchStep = 'resolve';
  #text = '';
  #bytes = 0;
  #total: number | null = null;
  #reportedAt = 0;
  #marks: { at: number; bytes: number }[] = [];

  constructor(report: (progress: Progress) => void) {
    this.#report = report;
  }

  /** Begins a step; `total`: its bytes, null if unknown. */
  begin(step: FetchStep, text: string, total: number | null = null): void {
    [this.#step, this.#text, this.#bytes, this.#total] = [step, text, 0, total];
    this.#marks = [];
    this.#send();
  }

  add(bytes: number): void {
    this.set(this.#bytes + bytes);
  }

  /** What is being done now, in words. */
  label(text: string): void {
    this.#text = text;
  }

  set(bytes: number): void {
    this.#bytes = bytes;
    if (performance.now() - this.#reportedAt >= REPORT_MS) this.#send();
  }

  #send(): void {
    const now = performance.now();
    this.#reportedAt = now;
    this.#marks = [...this.#marks.filter(({ at }) => now - at <= RATE_MS), { at: now, bytes: this.#bytes }];
    const first = this.#marks[0];
    const seconds = first === undefined ? 0 : (now - first.at) / 1_000;
    this.#report({
      step: this.#step,
      bytes: this.#bytes,
      total_bytes: this.#total,
      bytes_per_second: seconds === 0 ? 0 : Math.max(0, Math.round((this.#bytes - (first?.bytes ?? 0)) / seconds)),
      text: this.#text,
    });
  }
}
