import type { Readable } from 'node:stream';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Denial } from '../core/envelope.ts';
import type { Logger } from '../core/log.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult, SetAside } from './quarantine.ts';

/** Why a command is over. `pids` only when the command failed; `oom` whenever the kernel killed for memory. */
export type EndedBy = 'exit' | 'signal' | 'timeout' | 'oom' | 'pids' | 'seccomp' | 'output_limit' | 'cancelled';

/** The project as one session sees it. */
export interface WorkspaceView {
  /** Absolute real path of the project root, mounted read-write at the same path. */
  readonly path: string;
  /** Names the branch whose files take the place of the base; null is the base. No sandbox mounts a branch yet. */
  readonly layer: string | null;
}

/** The base of a project, whatever branches there are. */
export function baseView(path: string): WorkspaceView {
  return { path, layer: null };
}

/**
 * Which network namespace a sandbox is in. `none`: its own, with nothing but loopback. `namespace`: the path of an
 * existing one (`/run/netns/…`, `/proc/<pid>/fd/…`), which must not be the host's and which the sandbox joins.
 */
export type SandboxNetwork = 'none' | { readonly namespace: string };

/** What a command may see and use. A person registered the workspace and set the rest; a tool's input changes nothing. */
export interface SandboxPolicy {
  workspace: WorkspaceView;
  network: SandboxNetwork;
  /** Absolute directories mounted read-only at the same path; their `bin` comes first on PATH. */
  roPaths: readonly string[];
  /** Globs relative to the workspace; what they match is not visible inside. */
  deny: readonly string[];
  limits: SandboxLimits;
  /** Below this nothing is run (SANDBOX_UNAVAILABLE). */
  minIsolation: 'full' | 'reduced';
  seccomp: SeccompToggles;
}

/** What a tool's profile changes in the default seccomp filter. */
export interface SeccompToggles {
  /** AF_INET and AF_INET6 sockets: loopback only, as the network namespace has nothing else. */
  inet: boolean;
  /** AF_UNIX sockets. */
  unix: boolean;
  /** ptrace and its relatives, for processes of the same sandbox. */
  debugger: boolean;
}

export interface SandboxLimits {
  /** Bytes of memory, tmpfs included, of everything in the sandbox (per process where no cgroup can be used). */
  memoryBytes: number;
  /** Processes and threads the command may have at once. */
  pids: number;
  /** Bytes of the largest file it may write. */
  fileBytes: number;
  /** Open files of one process. */
  openFiles: number;
  /** Processors, fractions allowed; 0: not limited. */
  cpus: number;
}

export interface CommandSpec {
  argv: readonly string[];
  /** Inside the workspace. */
  cwd: string;
  /** Added to PATH, HOME, TMPDIR and LANG, which may be replaced; nothing of the daemon's environment is there. */
  env: Readonly<Record<string, string>>;
  /** Null is an empty stdin. */
  stdin: Buffer | null;
  /** Milliseconds, start of the sandbox included. */
  timeoutMs: number;
  /** Bytes kept of each stream; beyond it head and tail. */
  outputMaxBytes: number;
  /** Bytes, both streams together, past which the command is killed; 0: never, however much it prints. */
  outputKillBytes: number;
  signal: AbortSignal;
  /** Told what the command prints, as it comes. Must take it at once and keep no reference to the bytes' buffer for long. */
  onOutput?(stream: 'stdout' | 'stderr', bytes: Buffer): void;
}

/** Complete in `head` when `droppedBytes` is 0; else the first half and the last half of what may be kept. */
export interface CapturedStream {
  head: Buffer;
  tail: Buffer;
  droppedBytes: number;
  totalBytes: number;
}

export interface CommandResult {
  /** As a shell reports it: 128 + n when signal n ended it. Null when it was killed from outside. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  endedBy: EndedBy;
  stdout: CapturedStream;
  stderr: CapturedStream;
  /** Milliseconds. */
  durationMs: number;
  /** Protected paths that the run made; each has the suffix `.quarantined-<id>` now. */
  quarantined: readonly SetAside[];
  /** False while the search for them goes on; what it still finds is in the result of a later run. */
  searchComplete: boolean;
  /** What the sandbox is known to have refused; never a guess. */
  denied: readonly Denial[];
}

export interface IsolationReport {
  level: 'full' | 'reduced' | 'unavailable';
  missing: readonly string[];
  /** What a person does about it. */
  remedy: string | null;
  backend: 'bubblewrap' | 'seatbelt' | 'none';
  version: string | null;
  /** What `ctxd doctor` shows, one line each; empty when nothing runs at all. */
  layers: readonly IsolationLayer[];
}

export interface IsolationLayer {
  /** Such as `pid namespace`. */
  name: string;
  /** By the kernel, for the sandbox as a whole. */
  enforced: boolean;
  /** What enforces it, or what holds instead. */
  by: string;
  /** Null where it is enforced, and where nothing can be done. */
  remedy: string | null;
}

/** A program that lives in the sandbox. `stdout` and `stderr` must be read, or it blocks. */
export interface SandboxProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Host path of the directory that the program sees as SOCKET_DIR: where both sides put their sockets. */
  readonly socketDir: string;
  /**
   * Settles when a protected path of its workspace was replaced on the host: what was mounted over it then no longer
   * protects the new one, so the process should be given no more calls. Never, if that does not happen.
   */
  readonly stale: Promise<void>;
  /** Settles, never rejects, when nothing of the process is alive. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills the whole tree and returns when it is dead. Idempotent. */
  kill(): Promise<void>;
}

export interface SandboxProgram {
  /** Mounted read-only at /opt/contextd/bundle. */
  bundleDir: string;
  /** Relative to the bundle: a script for Node when it ends in `.js` or `.mjs`, else a program. */
  entry: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** What runs and waits at this moment. */
export interface SandboxStatus {
  /** Null while no spawner runs. */
  spawnerPid: number | null;
  /** Bytes of memory of the spawner itself. */
  spawnerRssBytes: number;
  /** Commands under way. */
  running: number;
  /** Long-lived processes. */
  processes: number;
  /** One-shot sandboxes that wait, by workspace. */
  ready: readonly { workspace: string; count: number }[];
  /** The most that may wait in all. */
  readyMax: number;
  /** Commands that one of them served, since the start. */
  readyUsed: number;
  /** Of all sandboxes together; null without a cgroup. */
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
  totals: null,
};

export interface Sandbox {
  /** Starts what can be started before anything of the home may be touched. */
  launch(): Promise<void>;
  start(): Promise<void>;
  /** Kills what still runs, waits for it, removes cgroups and pipes. Idempotent. */
  stop(): Promise<void>;
  /** Really runs a sandbox the first time, then remembers. */
  probe(): Promise<IsolationReport>;
  /** A root-owned workspace is reduced, or unavailable without a pids cgroup. */
  isolationFor(workspace: string): Promise<IsolationReport>;
  /**
   * Runs one command in a sandbox of its own; when it returns, nothing the command started is alive. Throws
   * SANDBOX_UNAVAILABLE when none can be started, PATH_NOT_FOUND and ARGS_INVALID for what the caller gave; the
   * command's own failure is a result.
   */
  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult>;
  /** Starts a long-lived tool process. Throws as `run` does. */
  open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess>;
  /**
   * Watches the workspace while a long-lived process works in it: `finish` moves away protected paths that were made
   * since and returns them.
   */
  watch(policy: SandboxPolicy): Promise<{ finish(): Promise<QuarantineReport> }>;
  /** Lists, restores and accepts what was moved away in the policy's workspace. Throws PATH_NOT_FOUND and CONFLICT. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult>;
  status(): Promise<SandboxStatus>;
}

/**
 * A part that knows what was refused to a command, such as a proxy of the network. What it reports are facts: they come
 * before what is read from the command's own output, and replace it if both are about the same refusal.
 */
export interface DenialSource {
  /** Called when a command starts; the function returned is called once, when it has ended, for what was refused. */
  begin(policy: SandboxPolicy): () => readonly Denial[];
}

export interface SandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  /** What reports denials, besides the command's own output; default: nothing. */
  denialSources?: readonly DenialSource[];
  logger: Logger;
  clock: Clock;
}
