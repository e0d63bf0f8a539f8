import { BROKER_TIMEOUT_MS, PLUGIN_MESSAGE_MAX_BYTES } from '../protocol/plugin/environment.ts';

/** Times of the runner, milliseconds, and what it keeps for a process. */
export interface RunnerConfig {
  /** A new process must have been connected and described within this. */
  startDeadlineMs: number;
  /** A number of the broker waits so long to be announced or dialled. */
  brokerDeadlineMs: number;
  /** How long a tool may take to answer once its call was cancelled or timed out. */
  cancelGraceMs: number;
  /** How long a process that ignored a cancel may take to answer a health check; one that does not is killed at once. */
  pingDeadlineMs: number;
  /** How long a process may take to end once it was asked to; then it is killed. */
  stopGraceMs: number;
  /** A process without calls is stopped after this. */
  idleMs: number;
  /** The first scrub pass may take this, and `scanPerKibMs` more per KiB of text; at most ten times this. */
  scanBaseMs: number;
  scanPerKibMs: number;
  /** Characters of command output that a process may leave unread before it counts as gone. */
  backlogMaxChars: number;
}

export const RUNNER_DEFAULTS: RunnerConfig = {
  startDeadlineMs: 10_000,
  brokerDeadlineMs: BROKER_TIMEOUT_MS,
  cancelGraceMs: 2_000,
  pingDeadlineMs: 1_000,
  stopGraceMs: 2_000,
  idleMs: 600_000,
  scanBaseMs: 10_000,
  scanPerKibMs: 1,
  backlogMaxChars: 2 * PLUGIN_MESSAGE_MAX_BYTES,
};
