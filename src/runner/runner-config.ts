/** Times of the runner, milliseconds. */
export interface RunnerConfig {
  /** A new process must say hello within this. */
  startDeadlineMs: number;
  /** How long a tool may take to answer once its call was cancelled or timed out. */
  cancelGraceMs: number;
  /** How long a process that ignored a cancel may take to answer a ping; one that does not is killed at once. */
  pingDeadlineMs: number;
  /** A process without calls is stopped after this. */
  idleMs: number;
  /** The first scrub pass may take this, and `scanPerKibMs` more per KiB of text; at most ten times this. */
  scanBaseMs: number;
  scanPerKibMs: number;
}

export const RUNNER_DEFAULTS: RunnerConfig = {
  startDeadlineMs: 10_000,
  cancelGraceMs: 2_000,
  pingDeadlineMs: 1_000,
  idleMs: 600_000,
  scanBaseMs: 10_000,
  scanPerKibMs: 1,
};
