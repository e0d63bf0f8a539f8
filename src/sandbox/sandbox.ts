import type { Readable } from 'node:stream';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Denial, SetAside } from '../core/envelope.ts';
import type { Logger } from '../core/log.ts';
import type { Runtime } from '../core/profile.ts';
import type { ConnectionFact, EgressCommand, EgressEvent, Traffic } from '../egress/messages.ts';
import type { LayerAbility, LayerKind } from './layers/mounted.ts';
import type { MergeRequest, ReplyOf } from './merge/messages.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from './quarantine.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';
import type { RestoreItem, RestoreReply, SnapshotReply, SnapshotRequest } from './snapshots/messages.ts';

/**
 * Why a command ended. `pids` only if the command failed; `oom` whenever the kernel killed a process for lack of
 * memory; `protected_path` if the command made a path again and again that was set aside; `input` if nothing but input on its
 * terminal could make it go on, and nobody could give it any.
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
  | 'protected_path'
  | 'input'
  | 'cancelled';

/** Times are milliseconds since the epoch. */
export type StorageAction =
  | { readonly do: 'list' }
  /** Empties the caches of a project; null: of all. */
  | { readonly do: 'clear'; readonly project: string | null }
  /** Removes HOME and /tmp of a session. */
  | { readonly do: 'end_session'; readonly project: string; readonly session: string }
  /**
   * Removes what was last used before a time, of sessions only those that have ended, and trims caches. What is in use
   * stays.
   */
  | {
      readonly do: 'sweep';
      readonly live: readonly { readonly project: string; readonly session: string }[];
      readonly sessionsBeforeMs: number;
      readonly cachesBeforeMs: number;
    };

/** The caches of one project. */
export interface ProjectCaches {
  readonly project: string;
  /** Bytes, 1 KiB for each entry included. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Milliseconds since the epoch. */
  readonly usedMs: number;
}

/** For whom a command runs: its connections are attributed to this call or job. */
export interface RunRef {
  readonly session: string;
  /** Of the call, or the id of the job. */
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
  /** Inside the workspace. */
  cwd: string;
  /**
   * Added to PATH, HOME, TMPDIR and LANG, which it may replace; the command gets nothing from the daemon's environment.
   */
  env: Readonly<Record<string, string>>;
  /** Null means an empty stdin. On a terminal it is typed when the command waits for input, and ends with Ctrl-D. */
  stdin: Buffer | null;
  /**
   * True: it runs on a terminal. Its output is then text, as the terminal shows it, all in `stdout`; `onOutput` still gets
   * the bytes. Default: false.
   */
  terminal?: boolean;
  /** Milliseconds, including the start of the sandbox. */
  timeoutMs: number;
  /** Bytes kept of each stream; of a longer stream head and tail are kept. */
  outputMaxBytes: number;
  /** Bytes of both streams together after which the command is killed; 0: never. */
  outputKillBytes: number;
  signal: AbortSignal;
  /** Absent: its connections are attributed to nobody. */
  run?: RunRef;
  /** Called with the command's output as it arrives. Must not block, and must not keep the buffer. */
  onOutput?(stream: 'stdout' | 'stderr', bytes: Buffer): void;
}

/** Newlines of a text in UTF-16 in both byte orders, by characters that begin at an even offset of the stream. */
export interface WideNewlines {
  lowFirst: number;
  highFirst: number;
}

/**
 * The whole stream is in `head` if `droppedBytes` is 0; otherwise the first half and the last half of what may be kept.
 */
export interface CapturedStream {
  head: Buffer;
  tail: Buffer;
  droppedBytes: number;
  /** Bytes 0x0A among the dropped bytes. */
  droppedNewlines: number;
  /** The same for UTF-16, in which a newline has two bytes; null if the stream does not begin like UTF-16. */
  droppedWideNewlines?: WideNewlines | null;
  totalBytes: number;
}

export interface CommandResult {
  /** As a shell reports it: 128 + n if signal n ended the command. Null if it was killed from outside. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  endedBy: EndedBy;
  stdout: CapturedStream;
  stderr: CapturedStream;
  /** Milliseconds. */
  durationMs: number;
  /** Protected paths that the run created; each now has the suffix `.quarantined-<id>`. */
  quarantined: readonly SetAside[];
  /** False while the search for them goes on; a later run returns what it still finds. */
  searchComplete: boolean;
  /** What of its changes contextd kept outside the workspace, one line each. */
  notices: readonly string[];
  /** What the sandbox is known to have refused. A refusal is listed only if the facts prove it. */
  denied: readonly Denial[];
  /** What it reached or tried to reach, as far as the connections are known to be its own: see `ConnectionSums`. */
  connections: readonly Connection[];
  /** What it did when it was killed; null if it was not, or it is not known. */
  activity: Activity | null;
}

/** What a running command does, as far as the kernel shows it. */
export interface Activity {
  kind: 'input' | 'listening' | 'network' | 'lock' | 'busy' | 'other';
  /** For example `python3 waits for input on its terminal`. The names in it were chosen by the command. */
  text: string;
  /** True if input is what it waits for: no process does anything or waits for something else outside the command. */
  needsInput: boolean;
  /** True if moreover no process goes on by itself after a while, as far as its system calls show. */
  isStuck: boolean;
  /** Milliseconds of processor time that its living processes have used. */
  cpuMs: number;
}

/** What a running command uses. */
export interface CommandUsage {
  processes: number;
  /** Memory that two processes share counts twice. */
  memoryBytes: number;
  cpuMs: number;
}

/** Signals that can be sent to a running command. */
export const STEERING_SIGNALS = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGKILL', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGSTOP'] as const),
  ...(['SIGTSTP', 'SIGWINCH'] as const),
];
export type SteeringSignal = (typeof STEERING_SIGNALS)[number];

/** A command that others talk to while it runs. Its stdin is a pipe that stays open. */
export interface SteeredCommand {
  /** Settles when the sandbox has been started. Rejects with what `run` throws. */
  readonly started: Promise<void>;
  /** As the result of `run`. */
  readonly ended: Promise<CommandResult>;
  /** Writes to its stdin; `isEnd` closes it. Throws CONFLICT if it is closed, RESOURCE_LIMIT if it is not read. */
  input(data: Buffer, isEnd: boolean): Promise<void>;
  /** Sends a signal to every process of the command, as a terminal does. Returns how many got it. */
  signal(signal: SteeringSignal): Promise<number>;
  /** Null if it is not known. */
  usage(): Promise<CommandUsage | null>;
  /** What it does now; null if it is not known. */
  activity(): Promise<Activity | null>;
}

export interface IsolationReport {
  level: 'full' | 'reduced' | 'unavailable';
  missing: readonly string[];
  /** What a person can do about it. */
  remedy: string | null;
  backend: 'bubblewrap' | 'seatbelt' | 'none';
  version: string | null;
  /** What `ctxd doctor` shows, one line each; empty if nothing can run. */
  layers: readonly IsolationLayer[];
  loopback: LoopbackReport;
}

/** Whether the sandboxes of a project can reach each other's servers. */
export interface LoopbackReport {
  isShared: boolean;
  /** Why each sandbox has a loopback of its own; null if they share one or nothing can run. */
  why: string | null;
  remedy: string | null;
}

/** The report if nothing can run. */
export const NO_LOOPBACK: LoopbackReport = { isShared: false, why: null, remedy: null };

export interface IsolationLayer {
  /** For example `pid namespace`. */
  name: string;
  /** True if the kernel enforces it for the sandbox as a whole. */
  enforced: boolean;
  /** What enforces it, or what is used instead. */
  by: string;
  /** Null if it is enforced or if nothing can be done. */
  remedy: string | null;
}

/** A long-lived program in a sandbox. Somebody must read `stdout` and `stderr`, otherwise it blocks. */
export interface SandboxProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Host path of the directory that the program sees as SOCKET_DIR: both sides put their sockets there. */
  readonly socketDir: string;
  /**
   * Settles if a protected path of its workspace is replaced on the host. The mount over the old path does not protect
   * the new one, so the process must get no more calls.
   */
  readonly stale: Promise<void>;
  /** Settles when every process of the program is dead. Never rejects. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills the whole tree and returns when every process is dead. Idempotent. */
  kill(): Promise<void>;
}

export interface SandboxProgram {
  /** Mounted read-only at /opt/contextd/bundle. */
  bundleDir: string;
  /** What runs the entry. `exec` needs the SDK, whose adapter gets the path of the entry before `args`. */
  runtime: Runtime;
  /** The SDK of contextd, which scripts find as the package `@contextd/sdk`. Default: they find none. */
  sdkDir?: string;
  /** Relative to the bundle. */
  entry: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface RestoreResult extends RestoreReply {
  /** What was set aside of what was put back. */
  readonly quarantined: readonly SetAside[];
}

export interface MergeResult<T> {
  readonly reply: T;
  /** What was set aside of what was written. */
  readonly quarantined: readonly SetAside[];
}

/** What runs and waits right now. */
export interface SandboxStatus {
  /** Null if no spawner runs. */
  spawnerPid: number | null;
  /** Bytes of memory that the spawner itself uses. */
  spawnerRssBytes: number;
  /** Commands that are running. */
  running: number;
  /** Long-lived processes. */
  processes: number;
  /** Waiting one-shot sandboxes by workspace. */
  ready: readonly { workspace: string; count: number }[];
  /** The most sandboxes that may wait in total. */
  readyMax: number;
  /** Commands that ran in a waiting sandbox since the start. */
  readyUsed: number;
  /** Network namespaces, and the ports in each at which the proxy process answers. */
  networks: readonly { readonly name: string; readonly ports: readonly number[] }[];
  /** For all sandboxes together; null without a cgroup. */
  totals: { memoryBytes: number; memoryMaxBytes: number; pids: number; pidsMax: number } | null;
}

/** The status of a sandbox without a spawner. */
export const IDLE_STATUS: SandboxStatus = {
  spawnerPid: null,
  spawnerRssBytes: 0,
  running: 0,
  processes: 0,
  ready: [],
  readyMax: 0,
  readyUsed: 0,
  networks: [],
  totals: null,
};

export interface Sandbox {
  /** Starts everything that does not touch the home directory of contextd. */
  launch(): Promise<void>;
  start(): Promise<void>;
  /** Kills everything that still runs, waits for it, and removes cgroups and pipes. Idempotent. */
  stop(): Promise<void>;
  /** Runs a real sandbox the first time, then remembers the result. */
  probe(): Promise<IsolationReport>;
  /** A workspace owned by root is reduced, or unavailable without a pids cgroup. */
  isolationFor(workspace: string): Promise<IsolationReport>;
  /**
   * Runs one command in a sandbox of its own. When it returns, every process that the command started is dead. Throws
   * SANDBOX_UNAVAILABLE if no sandbox can be started, PATH_NOT_FOUND and ARGS_INVALID for bad arguments; if the command
   * itself fails, that is a result.
   */
  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult>;
  /**
   * Starts a command that outlives its call. It ends by itself, at its time limit, or when its signal aborts. While it
   * runs, `onFound` gets the protected paths that it created; its result has them too.
   */
  begin(
    policy: SandboxPolicy,
    command: Omit<CommandSpec, 'stdin'>,
    onFound: (found: readonly SetAside[]) => void,
  ): SteeredCommand;
  /** Starts a long-lived tool process. Throws what `run` throws. */
  open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess>;
  /**
   * Watches the workspace while a long-lived process works in it: `finish` moves away the protected paths that were
   * created meanwhile and returns them.
   */
  watch(policy: SandboxPolicy): Promise<{ finish(): Promise<QuarantineReport> }>;
  /** Lists, restores and accepts what was moved away in the policy's workspace. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult>;
  status(): Promise<SandboxStatus>;
  /** What commands keep on disk. Returns the caches that the action is about, the largest first. */
  storage(action: StorageAction): Promise<readonly ProjectCaches[]>;
  /**
   * What the files of a workspace are and were. `drop` forgets everything about it and returns null. Throws
   * SANDBOX_UNAVAILABLE with the reason if nothing can be kept.
   */
  snapshot(workspace: string, request: SnapshotRequest | { readonly do: 'drop' }): Promise<SnapshotReply | null>;
  /**
   * Puts files back, in a sandbox like that of a command: protected paths stay as they are, and what would run on the host
   * is set aside. Call `snapshot` first. Throws what `run` throws.
   */
  restore(policy: SandboxPolicy, items: readonly RestoreItem[]): Promise<RestoreResult>;
  /**
   * Makes the files of a branch: `policy.workspace.layer` ends with it. From then on everything that is started with this view
   * sees and changes them instead of the base. Throws SANDBOX_UNAVAILABLE with the reason if the workspace can have none.
   */
  createLayer(policy: SandboxPolicy): Promise<LayerKind>;
  /** How a branch of a workspace would keep its files, as tried. Throws SANDBOX_UNAVAILABLE if it could have none. */
  layerAbility(workspace: string): Promise<LayerAbility>;
  /** Kills what runs in a branch and removes its files. Does nothing if it has none. */
  removeLayer(project: string, branch: string): Promise<void>;
  /** Removes the files of all other branches, of all projects. */
  keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): Promise<void>;
  /**
   * Lists or merges files of branches, in a sandbox like that of a command on the view of the policy: protected paths stay as
   * they are, and what would run on the host is set aside. `branch`: whose written files it may read. Throws what `run` throws.
   */
  merge<R extends MergeRequest>(
    policy: SandboxPolicy,
    branch: string | null,
    request: R,
  ): Promise<MergeResult<ReplyOf<R>>>;
  /** Sends a message to the proxy process of the network; each is carried out before anything that is started later. */
  tellEgress(command: EgressCommand): void;
}

export interface SandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  /**
   * Called with what the proxy process reports; `run` is null if it is not known whose the event is. After `ready` the
   * process gets connections when the returned promise settles: when it was told everything.
   */
  onEgress?(event: EgressEvent, run: RunRef | null): void | Promise<void>;
  logger: Logger;
  clock: Clock;
}
