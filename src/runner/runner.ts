import type { ToolEffects } from '../call/effects.ts';
import type { RunFacts } from '../call/outcome.ts';
import type { ClientShell } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { PluginProgram, ToolProgram } from '../call/tool-program.ts';
import type { CallerWords } from '../core/caller-words.ts';
import type { Clock } from '../core/clock.ts';
import type { AnswerForm, Denial } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { PassedCall } from '../core/passing.ts';
import type { QuarantineReport } from '../guard/contract/quarantine.ts';
import { BROKER_TIMEOUT_MS, PLUGIN_MESSAGE_MAX_BYTES } from '../protocol/plugin/environment.ts';
import type { Findings, ToolOutput } from '../protocol/tool-output.ts';
import type { SandboxLimits, SandboxPolicy } from '../sandbox/contract/policy.ts';
import type { Sandbox } from '../sandbox/contract/sandbox.ts';
import type { HostDeps } from './host-api.ts';
import type { HostServices } from './host-methods.ts';
import type { CommandListener } from './progress/progress-feed.ts';

/** A verified and authorized call of a tool. */
export interface ToolCall<Program extends ToolProgram = ToolProgram> {
  requestId: string;
  /** The session's project is also the workspace. */
  session: SessionRef;
  /** Working directory of the call, inside the project. */
  cwd: string;
  tool: string;
  /** A core tool's process serves all sessions of the project; an installed tool gets a process for each session. */
  origin: 'core' | 'installed';
  /** How the call is answered. Default: json. */
  form?: AnswerForm;
  /** How the answer names calls. Absent: as a shell takes them. */
  words?: CallerWords | null;
  program: Program;
  effects: ToolEffects;
  grants: readonly string[];
  input: JsonObject;
  /** The requested view as the caller wrote it, or null. */
  view: Json | null;
  /** Hexadecimal. */
  etagKey: string;
  /** Maximum milliseconds of the execution, without the start of the tool's process. */
  timeoutMs: number;
  /** Bytes kept of each stream; at most 64 MiB. */
  outputMaxBytes: number;
  /** Output in bytes (both streams) after which a command is killed; 0: never. */
  outputKillBytes: number;
  /** For a client whose shell is contextd-sh. */
  clientShell?: ClientShell;
  /** Tokens of secrets whose values a program of the call gets. Default: none. */
  opened?: readonly string[];
  /** Called for each command of the call. The returned listener gets its output, unscrubbed. */
  onCommand?(): CommandListener;
  /** For an MCP client that gets the result of a server's tool as the server gave it. */
  passed?: PassedCall;
  signal: AbortSignal;
}

/** A call executed by a plugin process. */
export type PluginCall = ToolCall<PluginProgram>;

/**
 * What a tool answered. `firstPass`: what its process finds in it, per leaf of {data, streams} in the order of `collectLeaves`; a
 * failure if the search ends without an answer.
 */
export interface ToolAnswer {
  output: ToolOutput;
  firstPass: Findings | Promise<Findings | ContextdError>;
}

export interface RunOutput extends ToolAnswer {
  durationMs: number;
}

/** A call that has ended. */
export interface ToolRun {
  /**
   * The output, or the failure: TIMEOUT, CANCELLED, TOOL_CRASHED, VERSION_MISMATCH, TOOL_NOT_FOUND, or an error from
   * the sandbox or the tool. A tool that began and failed has an output.
   */
  outcome: RunOutput | ContextdError;
  /** What the host did for the call, successful or not. */
  facts: RunFacts;
}

/**
 * Executes the calls of one kind of tool, or of every kind. Everything common to all kinds is around it: the steps of a
 * call, the files of branches, undo.
 */
export interface ToolBackend<Program extends ToolProgram = ToolProgram> {
  start(): Promise<void>;
  /** Ends everything that runs or waits. Calls in progress fail with INTERRUPTED. Idempotent. */
  stop(): Promise<void>;
  /** Never rejects, because a failed call has facts too. */
  run(call: ToolCall<Program>): Promise<ToolRun>;
}

export type ToolNetwork = Pick<SandboxPolicy, 'network' | 'networkTool' | 'hostNetwork'>;

/** A person's grants to a tool outside the project and beyond the configured limits. */
export interface ToolAccess {
  paths: NonNullable<SandboxPolicy['toolPaths']>;
  /** Environment variables of the tool's own process. */
  variables: Readonly<Record<string, string>>;
  /** Upper limits for the tool, where they exceed the configured ones. */
  limits: Partial<Pick<SandboxLimits, 'memoryBytes' | 'pids'>>;
}

export interface RunnerDeps {
  sandbox: Pick<Sandbox, 'run' | 'open'> & {
    /** `denied`: accesses that the network refused to the tool's own process during the watch. */
    watch(
      policy: SandboxPolicy,
    ): Promise<{ finish(): Promise<QuarantineReport & { readonly denied?: readonly Denial[] }> }>;
  };
  /**
   * Policy of the tool processes. Its workspace is the session's project with the layer of the session's branch. A core
   * tool's process serves several sessions, so nothing else in it may be specific to one of them.
   */
  policyFor(session: SessionRef): SandboxPolicy;
  /** Network of a tool's process, and of an installed tool's commands. Default: none. */
  toolNetworkFor?(call: Pick<ToolCall, 'session' | 'tool' | 'grants'>): ToolNetwork;
  /** An installed tool's grants besides its network, for its process and its commands. Default: none. */
  toolAccessFor?(call: Pick<ToolCall, 'grants'>): ToolAccess;
  /** Policy of the commands that a session runs, with the same workspace. */
  commandPolicyFor(session: SessionRef): SandboxPolicy;
  /** The SDK that Node tools find as `@contextd/sdk`. Core tools have their own. */
  sdkDir: string;
  /** A directory that only the daemon can enter, on the same file system as the sandbox's socket directories. */
  privateSocketsDir: string;
  /** Replaces everything that looks like a secret with the session's tokens. */
  scrub: HostDeps['scrub'];
  services: HostServices;
  logger: Logger;
  clock: Clock;
  /** Overrides of the defaults. */
  config?: Partial<RunnerConfig>;
}

/** Times of the runner, in milliseconds, and its buffer limit per process. */
export interface RunnerConfig {
  /** Time for a new process to connect and be described. */
  startDeadlineMs: number;
  /** Time for a broker number to be announced or dialled. */
  brokerDeadlineMs: number;
  /** Time for a tool to answer after its call was cancelled or timed out. */
  cancelGraceMs: number;
  /** Time for a process that ignored a cancel to answer a health check. If it does not, it is killed at once. */
  pingDeadlineMs: number;
  /** Time for a process to exit after it was asked to. After that it is killed. */
  stopGraceMs: number;
  /** A process without calls is stopped after this time. */
  idleMs: number;
  /** Time for the first scrub pass, plus `scanPerKibMs` per 1,024 characters of text; at most ten times this. */
  scanBaseMs: number;
  scanPerKibMs: number;
  /** Characters of unread command output after which a process counts as gone. */
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
