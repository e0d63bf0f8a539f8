import type { Mount } from '../../guard/contract/mount.ts';
import type { CommandResult } from '../contract/command.ts';
import type { SteeredRun, Steering } from './steering.ts';

/** How a command ended. Its output went to the sinks. */
export type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

/** Result of a command that was cancelled before anything was started. */
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
  pipeStatus: [],
};

/** Spawner-side options of a run. */
export interface RunOptions {
  /** The run number under which its connections are reported. */
  readonly number: number;
  /** For a steered command, which may run for hours; otherwise null. */
  readonly steered: SteeredRun | null;
  /** Mounts of contextd's own program if one runs in place of a command. Absent: a command runs. */
  readonly program?: readonly Mount[];
}

/** How a long-lived program is followed. */
export interface ProcessOptions {
  /** Called if its sandbox no longer protects what it should. */
  readonly onStale: () => void;
  /** Null: it takes no input. */
  readonly steering: Steering | null;
}
