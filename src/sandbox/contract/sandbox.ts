import type { Readable } from 'node:stream';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import type { Logger } from '../../core/log.ts';
import type { Runtime } from '../../core/profile.ts';
import type { EgressCommand, EgressEvent } from '../../egress/messages.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { CommandResult, CommandSpec, RunRef, SandboxWait, SteeredCommand } from './command.ts';
import type { MergeRequest, ReplyOf } from './merge-messages.ts';
import type { LayerAbility, LayerKind } from './mounted.ts';
import type { SandboxPolicy } from './policy.ts';
import type { RestoreItem, RestoreReply, SnapshotReply, SnapshotRequest } from './snapshot-messages.ts';

/** Times are milliseconds since the epoch. */
export type StorageAction =
  | { readonly do: 'list' }
  /** Empties the caches of a project; null: of all projects. */
  | { readonly do: 'clear'; readonly project: string | null }
  /** Removes everything of a project or another owner of storage. */
  | { readonly do: 'remove'; readonly project: string }
  /** Removes HOME and /tmp of a session. */
  | { readonly do: 'end_session'; readonly project: string; readonly session: string }
  /**
   * Trims caches, and removes storage unused since these times (of sessions, only ended ones). Storage in use stays.
   */
  | {
      readonly do: 'sweep';
      readonly live: readonly { readonly project: string; readonly session: string }[];
      readonly sessionsBeforeMs: number;
      readonly cachesBeforeMs: number;
    };

/** Disk usage of one project's caches. */
export interface ProjectCaches {
  readonly project: string;
  /** Includes 1 KiB per entry. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Milliseconds since the epoch. */
  readonly usedMs: number;
}

export interface IsolationReport {
  level: 'full' | 'reduced' | 'unavailable';
  missing: readonly string[];
  /** Advice for a person; null if nothing helps. */
  remedy: string | null;
  backend: 'bubblewrap' | 'seatbelt' | 'none';
  version: string | null;
  /** Rows of `ctxd doctor`; empty if nothing can run. */
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

/** The report of a machine on which nothing can run. */
export const NO_LOOPBACK: LoopbackReport = { isShared: false, why: null, remedy: null };

export interface IsolationLayer {
  /** For example `pid namespace`. */
  name: string;
  /** True if the kernel enforces it for the whole sandbox. */
  enforced: boolean;
  /** The mechanism that enforces it, or its substitute. */
  by: string;
  /** Null if it is enforced or if nothing can be done. */
  remedy: string | null;
}

/** A long-lived program in a sandbox. The caller must read `stdout` and `stderr`, otherwise the program blocks. */
export interface SandboxProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Host path of the directory that the program sees as SOCKET_DIR. Both sides put their sockets there. */
  readonly socketDir: string;
  /**
   * Settles if a protected path of its workspace is replaced on the host. The mount over the old path does not protect
   * the new one, so the process must not get more calls.
   */
  readonly stale: Promise<void>;
  /** Settles when every process of the program is dead. Never rejects. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /**
   * Writes to the stdin of a program that takes input. Throws CONFLICT if it takes none or has closed it, RESOURCE_LIMIT if it
   * does not read. `isEnd` closes it after the data.
   */
  input(data: Buffer, isEnd?: boolean): Promise<void>;
  /** Kills the whole process tree and returns when it is dead. Idempotent. */
  kill(): Promise<void>;
}

export interface SandboxProgram {
  /** Mounted read-only at /opt/contextd/bundle. */
  bundleDir: string;
  /** Runs the entry. `exec` needs the SDK, whose adapter gets the entry's path before `args`. */
  runtime: Runtime;
  /** The contextd SDK, importable as the package `@contextd/sdk`. Default: not available. */
  sdkDir?: string;
  /** Path relative to the bundle. */
  entry: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** True: its stdin is a pipe that stays open. Default: an empty stdin. */
  takesInput?: true;
}

export interface RestoreResult extends RestoreReply {
  /** Restored paths that were set aside. */
  readonly quarantined: readonly SetAside[];
}

export interface MergeResult<T> {
  readonly reply: T;
  /** Written paths that were set aside. */
  readonly quarantined: readonly SetAside[];
}

/** Current state of the sandbox subsystem. */
export interface SandboxStatus {
  /** Null if no spawner runs. */
  spawnerPid: number | null;
  /** Resident memory of the spawner itself. */
  spawnerRssBytes: number;
  /** Running commands. */
  running: number;
  /** Long-lived processes. */
  processes: number;
  /** Prestarted one-shot sandboxes by workspace. */
  ready: readonly { workspace: string; count: number }[];
  /** Maximum number of prestarted sandboxes in total. */
  readyMax: number;
  /** Commands since startup that ran in a prestarted sandbox. */
  readyUsed: number;
  /** Network namespaces, and the ports on which the proxy process listens in each. */
  networks: readonly { readonly name: string; readonly ports: readonly number[] }[];
  /** Usage of all sandboxes together; null without a cgroup. */
  totals: { memoryBytes: number; memoryMaxBytes: number; pids: number; pidsMax: number } | null;
}

/** The status when no spawner runs. */
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
  /** Starts everything that does not need contextd's home directory. */
  launch(): Promise<void>;
  start(): Promise<void>;
  /** Kills everything that still runs, waits for it, and removes cgroups and pipes. Idempotent. */
  stop(): Promise<void>;
  /** Runs a real sandbox the first time, then returns the memoized result. */
  probe(): Promise<IsolationReport>;
  /** A workspace owned by root is reduced, or unavailable without a pids cgroup. */
  isolationFor(workspace: string): Promise<IsolationReport>;
  /**
   * Runs one command in its own sandbox. On return, every process that the command started is dead. Throws
   * SANDBOX_UNAVAILABLE if no sandbox can be started, PATH_NOT_FOUND and ARGS_INVALID for bad arguments. A failing
   * command is a result, not an error.
   */
  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult>;
  /**
   * Starts a command that outlives its call. It ends on its own, at its time limit, or when its signal aborts.
   * `onFound` is called during the run with protected paths that it created; its result includes them.
   */
  begin(
    policy: SandboxPolicy,
    command: Omit<CommandSpec, 'stdin'>,
    onFound: (found: readonly SetAside[]) => void,
  ): SteeredCommand;
  /** Starts a long-lived tool process. Throws the errors of `run`. */
  open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess>;
  /**
   * Watches the workspace while a long-lived process works in it. `finish` moves away the protected paths created in
   * the meantime and returns them.
   */
  watch(policy: SandboxPolicy): Promise<{ finish(): Promise<QuarantineReport> }>;
  /** Lists, restores and accepts quarantined files of the policy's workspace. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult>;
  status(): Promise<SandboxStatus>;
  /** Manages what commands keep on disk. Returns the caches that the action concerns, largest first. */
  storage(action: StorageAction): Promise<readonly ProjectCaches[]>;
  /**
   * Takes and compares snapshots of a workspace's files. `drop` deletes its snapshots and returns null. Throws
   * SANDBOX_UNAVAILABLE with the reason if nothing can be kept.
   */
  snapshot(workspace: string, request: SnapshotRequest | { readonly do: 'drop' }): Promise<SnapshotReply | null>;
  /**
   * Restores files, in a sandbox like that of a command: protected paths stay as they are, and files that would run on
   * the host are set aside. Call `snapshot` first. Throws the errors of `run`.
   */
  restore(policy: SandboxPolicy, items: readonly RestoreItem[]): Promise<RestoreResult>;
  /**
   * Creates the files of a branch, the last of `policy.workspace.layer`. Everything started with this view from then on
   * sees and changes them instead of the base. Throws SANDBOX_UNAVAILABLE with the reason if the workspace cannot have
   * layers.
   */
  createLayer(policy: SandboxPolicy): Promise<LayerKind>;
  /** The kind of layer that a workspace would get, found by trying. Throws SANDBOX_UNAVAILABLE if there can be none. */
  layerAbility(workspace: string): Promise<LayerAbility>;
  /** Kills everything that runs in a branch and removes its files. Does nothing if the branch has no files. */
  removeLayer(project: string, branch: string): Promise<void>;
  /** Removes the files of all branches that are not in `live`, of all projects. */
  keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): Promise<void>;
  /**
   * Lists or merges files of branches, in a sandbox like that of a command on the policy's view: protected paths stay
   * as they are, and files that would run on the host are set aside. `branch`: the branch whose written files it may
   * read. Throws the errors of `run`.
   */
  merge<R extends MergeRequest>(
    policy: SandboxPolicy,
    branch: string | null,
    request: R,
  ): Promise<MergeResult<ReplyOf<R>>>;
  /** Sends a message to the network's proxy process. It takes effect before anything that is started later. */
  tellEgress(command: EgressCommand): void;
}

export interface SandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  /**
   * Called with events of the proxy process; `run` is null if the originating call is unknown. After `ready` the
   * process gets no connections until the returned promise settles, so that its rules are complete.
   */
  onEgress?(event: EgressEvent, run: RunRef | null): void | Promise<void>;
  /**
   * Called with the policy of what an earlier daemon starts: returns it without what a person has taken back since. Throws
   * PERMISSION_DENIED or CONFLICT if nothing may start. Default: the policy as it is.
   */
  stillAllowed?(policy: SandboxPolicy): SandboxPolicy;
  /** Called at the end of each command that had a sandbox. */
  onSandboxTaken?: ((wait: SandboxWait) => void) | undefined;
  logger: Logger;
  clock: Clock;
}
