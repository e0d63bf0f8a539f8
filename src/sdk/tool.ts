import type { JsonObject } from '../core/json.ts';
import type { ExecResult, ExecSpec, LogLevel } from '../protocol/host-messages.ts';
import type { ToolOutput } from '../protocol/tool-output.ts';

export { ContextdError, isErrno } from '../core/errors.ts';
export type { JsonObject } from '../core/json.ts';
export type { EndedBy, ExecResult, ExecSpec, LogLevel } from '../protocol/host-messages.ts';
export {
  shownText,
  type TextMargin,
  type ToolFailure,
  type ToolOutput,
  type ToolStream,
} from '../protocol/tool-output.ts';

/** Methods of the host whose requests and answers are JSON objects, as their documentation describes them. */
export type HostMethod = GrantedMethod | CoreMethod;
type GrantedMethod = 'MemorySearch' | 'MemoryStore' | 'CheckpointSave' | 'CheckpointRestore';
/** For the core tools alone. */
type CoreMethod =
  | 'ArtifactView'
  | 'MemoryGet'
  | 'MemoryFeedback'
  | 'CheckpointList'
  | 'BranchOpen'
  | 'BranchReturn'
  | 'SessionInit';

/** What the host does for a tool. Each service needs its grant in tool.json; without it the call is PERMISSION_DENIED. */
export interface ToolHost {
  /**
   * Runs a shell command in a sandbox of its own, under the deadline of the call. Grant: `exec`. A command that fails
   * is a result; it throws when the command could not be run (SANDBOX_UNAVAILABLE, PERMISSION_DENIED, ARGS_INVALID).
   */
  exec(spec: ExecSpec): Promise<ExecResult>;
  /** The texts, in their order, with what looks like a secret replaced by the session's tokens. Grant: `scrub`. */
  scrub(texts: readonly string[]): Promise<string[]>;
  /** A line in the daemon's log; its text is masked there. Grant: `log`. Without it the line is dropped. */
  log(level: LogLevel, message: string): void;
  /** Memories, checkpoints and what else the host keeps. Grant: the method's name, as in `memory_search`. */
  ask(method: HostMethod, request: JsonObject): Promise<JsonObject>;
}

/** What a tool knows about one call. */
export interface ToolContext {
  requestId: string;
  /** Absolute path of the workspace, the same inside the sandbox as outside. */
  workspace: string;
  /** Paths below the workspace that no tool may write, with all below them: `.claude`, `.git/hooks` and so on. */
  protectedPaths: readonly string[];
  /** Key for etags, hexadecimal: one per session, so that etags say nothing outside it. */
  etagKey: string;
  /** When the call is over, milliseconds since the epoch. */
  deadlineMs: number;
  /** Bytes of text to give back at most; of more, keep head and tail and say so in `droppedBytes`. */
  outputMaxBytes: number;
  /** Aborts when the call is cancelled or its time is over; the reason is a ContextdError (CANCELLED or TIMEOUT). */
  signal: AbortSignal;
  host: ToolHost;
}

/**
 * A tool. `execute` gets arguments that fit its schema.json. It returns its output, with `failure` when it began and
 * failed, or throws a ContextdError; anything else it throws is reported as INTERNAL_ERROR without its text.
 */
export interface Tool {
  readonly name: string;
  execute(context: ToolContext, input: JsonObject): Promise<ToolOutput>;
}
