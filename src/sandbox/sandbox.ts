import type { Duplex, Readable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import { LinuxSandbox } from './linux-sandbox.ts';
import { UnavailableSandbox } from './unavailable.ts';

/** Why a command is over. `pids` only when the command failed; `oom` whenever the kernel killed for memory. */
export type EndedBy = 'exit' | 'signal' | 'timeout' | 'oom' | 'pids' | 'seccomp' | 'output_limit' | 'cancelled';

/** What a command may see and use. Mounted so because a person registered the workspace; never from a tool's input. */
export interface SandboxPolicy {
  /** Absolute real path, mounted read-write at the same path. */
  workspace: string;
  /** Absolute directories mounted read-only at the same path; their `bin` comes first on PATH. */
  roPaths: readonly string[];
  limits: SandboxLimits;
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
  /** Processors, fractions allowed; not limited when left out. */
  cpu?: number;
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
  /** Bytes kept of each stream; beyond it head and tail. Past 8 times this, both streams together, the command is killed. */
  outputMaxBytes: number;
  signal: AbortSignal;
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
  /** Protected paths, relative to the workspace, that the run made; each now bears the suffix `.quarantined-…`. */
  quarantined: readonly string[];
}

export interface IsolationReport {
  level: 'full' | 'reduced' | 'unavailable';
  missing: readonly string[];
  /** What a person does about it. */
  remedy: string | null;
  backend: 'bubblewrap' | 'seatbelt' | 'none';
  version: string | null;
}

/** A Node program that lives in the sandbox. `stderr` (its stdout as well) must be read, or it blocks. */
export interface SandboxProcess {
  /** The other end of descriptor 3. */
  readonly channel: Duplex;
  readonly stderr: Readable;
  /** Settles, never rejects, when nothing of the process is alive. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills the whole tree and returns when it is dead. Idempotent. */
  kill(): Promise<void>;
}

export interface SandboxProgram {
  /** Mounted read-only at /opt/contextd/bundle. */
  bundleDir: string;
  /** Script, relative to the bundle. */
  entry: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface Sandbox {
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
}

export interface SandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  logger: Logger;
  clock: Clock;
}

/** The sandbox of this system. Main thread only: what a worker starts would die with the worker. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  if (!isMainThread)
    throw new Error('createSandbox was called in a worker thread; sandboxes are started from the main one');
  if (process.platform === 'linux') return new LinuxSandbox(deps);
  return new UnavailableSandbox(
    `contextd cannot isolate tools on ${process.platform} yet`,
    'Run contextd on Linux, or in a Linux virtual machine or container.',
  );
}
