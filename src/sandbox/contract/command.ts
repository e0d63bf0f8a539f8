import type { Denial, SetAside } from '../../core/envelope.ts';
import type { ConnectionFact, Traffic } from '../../egress/messages.ts';
import type { TerminalSize } from '../../text/terminal-screen.ts';

/** Size of every terminal. */
export const TERMINAL_SIZE: TerminalSize = { columns: 120, rows: 40 };

/**
 * Why a command ended. `pids`: only if the command failed. `oom`: whenever the kernel killed a process for lack of
 * memory. `input`: only input on its terminal could unblock it, and no input can come.
 */
export type EndedBy =
  | 'exit'
  | 'signal'
  | 'timeout'
  | 'oom'
  | 'pids'
  | 'seccomp'
  | 'output_limit'
  | 'storage_limit'
  | 'input'
  | 'cancelled';

/** The call or job that a command runs for. Its connections are attributed to it. */
export interface RunRef {
  readonly session: string;
  /** Request id of the call, or id of the job. */
  readonly requestId: string;
}

/** Equal connections of a command, with the bytes of all from (`up`) and to (`down`) the sandbox. */
export interface Connection
  extends Pick<ConnectionFact, 'host' | 'port' | 'allowed' | 'rule' | 'why' | 'isAllowable' | 'isBindable'>,
    Pick<Traffic, 'up' | 'down'> {
  readonly via: ConnectionFact['via'] | 'several';
  readonly count: number;
}

export interface CommandSpec {
  argv: readonly string[];
  /** Must be inside the workspace. */
  cwd: string;
  /** Added to PATH, HOME, TMPDIR and LANG, which it may override. The daemon's environment is not inherited. */
  env: Readonly<Record<string, string>>;
  /** Null: empty stdin. On a terminal it is typed when the command waits for input, followed by Ctrl-D. */
  stdin: Buffer | null;
  /**
   * True: runs on a terminal. All output is then in `stdout`, as the text that the terminal shows; `onOutput` still
   * gets the raw bytes. Default: false.
   */
  terminal?: boolean;
  /** For `bash -c`: the shell reports in which directory it ended. `isMerged`: stderr goes into stdout. */
  clientShell?: { readonly isMerged: boolean };
  /** Milliseconds, including the start of the sandbox. */
  timeoutMs: number;
  /** Maximum bytes kept per stream. A longer stream keeps its head and tail. */
  outputMaxBytes: number;
  /** The command is killed after this many bytes of both streams together; 0: never. */
  outputKillBytes: number;
  signal: AbortSignal;
  /** Absent: its connections are not attributed. */
  run?: RunRef;
  /** Called with each chunk of output as it arrives. Must not block or keep the buffer. */
  onOutput?(stream: 'stdout' | 'stderr', bytes: Buffer): void;
}

/** Number of UTF-16 newlines per byte order. Counts only characters that start at an even offset of the stream. */
export interface WideNewlines {
  lowFirst: number;
  highFirst: number;
}

/** If `droppedBytes` is 0, `head` is the whole stream. Otherwise `head` and `tail` each have half of the size limit. */
export interface CapturedStream {
  head: Buffer;
  tail: Buffer;
  droppedBytes: number;
  /** Number of 0x0A bytes in the dropped part. */
  droppedNewlines: number;
  /** The same count for UTF-16 newlines; null if the stream does not start like UTF-16. */
  droppedWideNewlines?: WideNewlines | null;
  totalBytes: number;
}

/** How a command came to its sandbox. */
export interface SandboxWait {
  /** Milliseconds until it had one. */
  readonly ms: number;
  /** True if one was waiting, false if it was started for the command. */
  readonly wasReady: boolean;
}

export interface CommandResult {
  /** Shell convention: 128 + n if signal n ended the command. Null if it was killed from outside. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  endedBy: EndedBy;
  stdout: CapturedStream;
  stderr: CapturedStream;
  /** Milliseconds. */
  durationMs: number;
  /** Absent if it got none, and where none is kept ready. */
  sandboxWait?: SandboxWait;
  /** Protected paths that the run created and that were moved away. */
  quarantined: readonly SetAside[];
  /** False while the search for such paths goes on; a later run returns what it still finds. */
  searchComplete: boolean;
  /** Changes that contextd kept out of the workspace, one line each. */
  notices: readonly string[];
  /** Refusals of the sandbox that the recorded facts prove. */
  denied: readonly Denial[];
  /** Connections that it made or tried to make, as far as they are known to be its own: see `ConnectionSums`. */
  connections: readonly Connection[];
  /** Activity when it was killed; null if it was not killed, or if unknown. */
  activity: Activity | null;
  /**
   * Exit statuses of the parts of the shell's last pipeline, in order, as the shell reports them. Empty if it has only one
   * part, or if they are unknown.
   */
  pipeStatus: readonly number[];
  /**
   * The working directory in which the shell ended, as the shell reports it. Absent if nothing asked for it, or the shell
   * ended before its last line.
   */
  directory?: string;
}

/** Current activity of a running command, as far as the kernel shows it. */
export interface Activity {
  kind: 'input' | 'listening' | 'watching' | 'network' | 'lock' | 'busy' | 'other';
  /** For example `python3 waits for input on its terminal`. Contains process names, which the command chose. */
  text: string;
  /** True if it waits for input: no process is busy, or waits for anything else outside the command. */
  needsInput: boolean;
  /** True if in addition no process will resume by itself, such as after a timeout, judging by its system calls. */
  isStuck: boolean;
  /** Processor time used by its living processes. */
  cpuMs: number;
}

/** Resource usage of a running command. */
export interface CommandUsage {
  processes: number;
  /** Memory shared by two processes counts twice. */
  memoryBytes: number;
  cpuMs: number;
}

/** Signals that can be sent to a running command. */
export const STEERING_SIGNALS = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGKILL', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGSTOP'] as const),
  ...(['SIGTSTP', 'SIGWINCH'] as const),
];

export type SteeringSignal = (typeof STEERING_SIGNALS)[number];

/** A running command that can be given input and signals. Its stdin is a pipe that stays open. */
export interface SteeredCommand {
  /** Under which `SpawnerHeritage.resume` finds it. Absent: it ends with the daemon. */
  readonly number?: number;
  /** Settles when the sandbox has started. Rejects with the errors of `run`. */
  readonly started: Promise<void>;
  /** The result, as from `run`. */
  readonly ended: Promise<CommandResult>;
  /** Writes to stdin; `isEnd` closes it. CONFLICT if it is closed, RESOURCE_LIMIT if the command does not read. */
  input(data: Buffer, isEnd: boolean): Promise<void>;
  /** Sends a signal to every process of the command, as a terminal does. Returns the number of processes signaled. */
  signal(signal: SteeringSignal): Promise<number>;
  /** Null if unknown. */
  usage(): Promise<CommandUsage | null>;
  /** Current activity; null if unknown. */
  activity(): Promise<Activity | null>;
}
