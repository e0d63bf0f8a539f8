import type { Json, JsonObject } from '../core/json.ts';
import type { ExecResult, ExecSpec, LogLevel } from '../protocol/host-messages.ts';
import type { ToolOutput } from '../protocol/tool-output.ts';

export { ContextdError, isErrno } from '../core/errors.ts';
export type { OutputGap } from '../core/gap.ts';
export { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
export type { EndedBy, ExecResult, ExecSpec, LogLevel } from '../protocol/host-messages.ts';
export {
  MAX_PARTS,
  type ShownPart,
  shownText,
  type TextMargin,
  type ToolFailure,
  type ToolOutput,
  type ToolStream,
} from '../protocol/tool-output.ts';

/** Methods of the host whose requests and answers are JSON objects, described in their documentation. */
export type HostMethod = GrantedMethod | CoreMethod;
type GrantedMethod = 'MemorySearch' | 'MemoryStore' | 'CheckpointSave' | 'CheckpointRestore';
/** For core tools only. */
type CoreMethod =
  | 'ArtifactView'
  | 'JobStart'
  | 'Jobs'
  | 'MemoryGet'
  | 'MemoryFeedback'
  | 'CheckpointList'
  | 'BranchOpen'
  | 'BranchReturn'
  | 'SessionInit';

/** Services of the host for a tool. Each needs its grant in tool.json; without the grant it throws PERMISSION_DENIED. */
export interface ToolHost {
  /**
   * Runs a shell command in a sandbox of its own, under the deadline of the call. Grant: `exec`. A command that fails
   * is a result; it throws if the command could not be run (SANDBOX_UNAVAILABLE, PERMISSION_DENIED, ARGS_INVALID).
   */
  exec(spec: ExecSpec): Promise<ExecResult>;
  /** Returns the texts in order, with secrets replaced by the session's tokens. Grant: `scrub`. */
  scrub(texts: readonly string[]): Promise<string[]>;
  /** Asks for memories, checkpoints and other data of the host. Grant: the method's name, as in `memory_search`. */
  ask(method: HostMethod, request: JsonObject): Promise<JsonObject>;
}

/** The context of one call. */
export interface ToolContext {
  requestId: string;
  /** Absolute path of the workspace, the same inside the sandbox as outside. */
  workspace: string;
  /** The directory in the workspace that the call is made from: relative paths start there. */
  cwd: string;
  /** Paths below the workspace that no tool may write, including everything below them: `.claude`, `.git/hooks` and so on. */
  protectedPaths: readonly string[];
  /** Key for etags, hexadecimal. Each session has its own, so that etags mean nothing outside it. */
  etagKey: string;
  /** The deadline of the call, milliseconds since the epoch. */
  deadlineMs: number;
  /** Milliseconds that the call may take in all. */
  timeoutMs: number;
  /** The most bytes of text to return. Of a longer text keep head and tail, and report the rest in `droppedBytes`. */
  outputMaxBytes: number;
  /** The view that the caller asked for, as the common option `view` takes it; null: none. */
  view: Json | null;
  /** Aborted if the call is cancelled or its time is over; the reason is a ContextdError (CANCELLED or TIMEOUT). */
  signal: AbortSignal;
  host: ToolHost;
  /** Writes a line to the daemon's log, which masks it. Grant: `log`; without it the line is dropped. */
  log(level: LogLevel, message: string): void;
}

/**
 * A tool. `execute` gets arguments that fit its schema.json. It returns its output, with `failure` if it began and failed,
 * or throws a ContextdError. Any other error is reported as INTERNAL_ERROR without its text.
 */
export interface Tool<Input extends object = JsonObject> {
  readonly name: string;
  /** The content of schema.json, by which `runTool` checks inputs as the daemon does. Default: `runTool` checks nothing. */
  readonly schema?: JsonObject;
  execute(context: ToolContext, input: Input): Promise<ToolOutput> | ToolOutput;
}
