import type { Mount } from './policy.ts';
import type { CommandResult } from './sandbox.ts';
import type { SteeredRun } from './steering.ts';

/** How a command ended; its output went to the sinks. */
export type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

/** The result of a command that was cancelled before anything was started for it. */
export const NOT_STARTED: RunEnd = {
  exitCode: null,
  signal: 'SIGKILL',
  endedBy: 'cancelled',
  durationMs: 0,
  quarantined: [],
  searchComplete: true,
  notices: [],
  denied: [],
  connections: [],
  activity: null,
};

/** A command as the spawner runs it. */
export interface RunOptions {
  /** By which its connections are reported. */
  readonly number: number;
  /** For a command that others talk to and that may run for hours; null for any other. */
  readonly steered: SteeredRun | null;
  /** What contextd's own program needs that runs in place of a command. Absent: a command runs. */
  readonly program?: readonly Mount[];
}
