import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Denial } from '../core/envelope.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { ToolProfile } from '../core/profile.ts';
import { BROKER_TIMEOUT_MS, PLUGIN_MESSAGE_MAX_BYTES } from '../protocol/plugin/environment.ts';
import type { ScannedOutput } from '../protocol/tool-output.ts';
import type { QuarantineReport } from '../sandbox/quarantine.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxLimits, SandboxPolicy } from '../sandbox/sandbox-policy.ts';
import type { RunFacts } from './call-facts.ts';
import type { HostServices } from './host-methods.ts';
import type { CommandListener } from './progress/progress-feed.ts';

/** One call of a tool, verified and authorized. */
export interface ToolCall {
  requestId: string;
  /** The project is also the workspace. */
  session: SessionRef;
  /** The directory in the project that the call is made from. */
  cwd: string;
  tool: string;
  /** A core tool's process serves all sessions of the project; an installed tool gets a process for each session. */
  origin: 'core' | 'installed';
  bundleSha256: string;
  bundleDir: string;
  /** How tool.json wants the tool to run. */
  profile: ToolProfile;
  grants: readonly string[];
  input: JsonObject;
  /** The view that the caller asked for, as the caller wrote it; null: none. */
  view: Json | null;
  /** Hexadecimal. */
  etagKey: string;
  /** Milliseconds the execution may take, without the start of the tool's process. */
  timeoutMs: number;
  /** Bytes kept of each stream, at most 64 MiB. */
  outputMaxBytes: number;
  /** Bytes of both streams of one command after which it is killed; 0: never. */
  outputKillBytes: number;
  /** Tokens of secrets whose values a program of the call gets. Default: none. */
  opened?: readonly string[];
  /** Called for each command of the call; the listener gets the command's output, unscrubbed. */
  onCommand?(): CommandListener;
  signal: AbortSignal;
  /**
   * Called at most once, before `run` settles, with what the host did for the call. For a call that fails this is the
   * only way to learn it. A core tool's call that never reached its process has no facts.
   */
  onFacts?(facts: RunFacts): void;
}

/** `firstPass`: per leaf of {data, streams}, in the order of `collectLeaves`. */
export interface RunResult extends ScannedOutput, RunFacts {
  durationMs: number;
}

/** Tool processes: the first call that needs one starts it. */
export interface Runner {
  start(): Promise<void>;
  /** Ends every tool process and waits; calls under way fail with INTERRUPTED. Idempotent. */
  stop(): Promise<void>;
  /**
   * Runs one call in the process of its project and bundle. Throws TIMEOUT, CANCELLED, TOOL_CRASHED, VERSION_MISMATCH,
   * TOOL_NOT_FOUND, what the sandbox throws and what the tool threw; a tool that began and failed is a result.
   */
  run(call: ToolCall): Promise<RunResult>;
}

export type ToolNetwork = Pick<SandboxPolicy, 'network' | 'networkTool' | 'hostNetwork'>;

/** What a person let a tool have outside the project and beyond the configured limits. */
export interface ToolAccess {
  paths: NonNullable<SandboxPolicy['toolPaths']>;
  /** For the tool's own process. */
  variables: Readonly<Record<string, string>>;
  /** At most what the tool may use, if that is more than is configured. */
  limits: Partial<Pick<SandboxLimits, 'memoryBytes' | 'pids'>>;
}

export interface RunnerDeps {
  sandbox: Pick<Sandbox, 'run' | 'open'> & {
    /** `denied`: what the network refused to the tool's own process meanwhile. */
    watch(
      policy: SandboxPolicy,
    ): Promise<{ finish(): Promise<QuarantineReport & { readonly denied?: readonly Denial[] }> }>;
  };
  /**
   * The policy of the tool processes; its workspace is the session's project with the layer of the session's branch. A
   * core tool's process serves several sessions, so nothing here may belong to one of them.
   */
  policyFor(session: SessionRef): SandboxPolicy;
  /** The network of a tool's process, and of its commands if it is an installed one. Default: none. */
  toolNetworkFor?(call: Pick<ToolCall, 'session' | 'tool' | 'grants'>): ToolNetwork;
  /** What an installed tool was granted besides its network, for its process and its commands. Default: nothing. */
  toolAccessFor?(call: Pick<ToolCall, 'grants'>): ToolAccess;
  /** The policy of the commands that a session runs, with the same workspace. */
  commandPolicyFor(session: SessionRef): SandboxPolicy;
  /** The SDK that tools which Node runs find as `@contextd/sdk`; core tools have their own. */
  sdkDir: string;
  /** Directory that only the daemon can enter, on the file system of the sandbox's socket directories. */
  privateSocketsDir: string;
  /** The texts with everything that looks like a secret replaced by the session's tokens. */
  scrub(session: SessionRef, texts: readonly string[]): Promise<readonly string[]>;
  services: HostServices;
  logger: Logger;
  clock: Clock;
  /** Overrides of the defaults. */
  config?: Partial<RunnerConfig>;
}

/** Times of the runner, milliseconds, and how much it keeps for a process. */
export interface RunnerConfig {
  /** A new process must be connected and described within this time. */
  startDeadlineMs: number;
  /** How long a number of the broker waits to be announced or dialled. */
  brokerDeadlineMs: number;
  /** How long a tool may take to answer after its call was cancelled or timed out. */
  cancelGraceMs: number;
  /** How long a process that ignored a cancel may take to answer a health check; otherwise it is killed at once. */
  pingDeadlineMs: number;
  /** How long a process may take to end after it was asked to; then it is killed. */
  stopGraceMs: number;
  /** A process without calls is stopped after this time. */
  idleMs: number;
  /** The first scrub pass may take this long, and `scanPerKibMs` more per KiB of text; at most ten times this. */
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
