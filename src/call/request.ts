import type { AnswerForm } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { PassedCall } from '../core/passing.ts';
import type { Surface } from '../core/surfaces.ts';

/** The origin of a call: its door, and the credentials that opened the door. */
export type Principal =
  | {
      /**
       * `proxy`: the proxy itself refused the call and reports the refusal. `mcp`: the bridge of an MCP client passes it on.
       * `shell`: contextd-sh runs a command for a client whose shell it is.
       */
      readonly door: 'grpc' | 'mcp' | 'proxy' | 'shell';
      /** The program named by the client's verified certificate. */
      readonly client: 'proxy' | 'cli';
    }
  | {
      readonly door: 'http' | 'mcp';
      /** The name of the token. */
      readonly token: string;
    };

/**
 * Who calls, as far as a caller cannot choose it: the project, and the program or token that opened the door. Programs of one
 * user that hold the same certificate are one caller.
 */
export function callerOf(principal: Principal, project: string): string {
  const by = 'token' in principal ? ['token', principal.token] : ['client', principal.client];
  return JSON.stringify([project, ...by]);
}

/** A call as every door hands it to dispatch. Its shape and size are validated, its meaning is not. */
export interface CallRequest {
  /** Matches REQUEST_ID_PATTERN. The door generates a new one if the caller's does not match. */
  requestId: string;
  principal: Principal;
  tool: string;
  projectRoot: string;
  /** Session named by the caller; "" if none. */
  sessionHint: string;
  /** Branch named by the caller's environment; "" if none. A branch in the arguments overrides it. */
  branchHint: string;
  /** Unparsed arguments, as JSON text; at most INPUT_MAX_BYTES. */
  inputJson: Buffer;
  /** Plain text for the tool's primary property, in addition to `inputJson`; null if no words were given. */
  inputText: Buffer | null;
  form: AnswerForm;
  /** What the MCP client sees of contextd. Absent: the caller is something else, and takes calls as a shell does. */
  surface?: Surface;
  /** For an MCP client that gets the result of a server's tool as the server gave it. */
  passed?: PassedCall;
  /** The caller's working directory: an absolute path that is textually inside the project; the root if unknown. */
  cwd: string;
  /**
   * Aborts with a ContextdError as its reason: CANCELLED if the caller cancels, disconnects or passes its deadline;
   * INTERRUPTED if the daemon stops before the call has ended.
   */
  signal: AbortSignal;
  /** Door `shell`: what the command must do as in a shell of the client's own. */
  clientShell?: ClientShell;
  /** Door `shell`: the text of which the command is the first part. Missing: the command is the whole text, or a later part. */
  wholeText?: string;
  /** The header traceparent of W3C Trace Context, unchecked. Absent: the caller sent none. */
  traceParent?: string;
  /** True: the caller lost the connection of the call with this request id, and asks for its answer. */
  isAskedAgain?: boolean;
  /** Receives scrubbed lines of command output while the command runs. For a person to watch; lines may be missing. */
  onProgress?(text: string): void;
}

/** A command that runs for a client whose shell is contextd-sh. Its shell reports in which directory it ended. */
export interface ClientShell {
  /** True: stdout and stderr are one, in the order in which they were written. */
  readonly isMerged: boolean;
}

export interface CallAnswer {
  /** JSON form: the line to print, without its newline. */
  line: string;
  /** Exit status of the command; if the call failed, the exit code of the error (docs/errors.md). */
  exitCode: number;
  /** Says that contextd failed the call; "" otherwise. JSON form: for stderr. */
  errorLine: string;
  /** Text form: exact text for both descriptors. Absent in the JSON form. */
  text?: { stdout: string; stderr: string };
  /** Text form, door `shell`: the working directory in which the command ended; empty if it is unknown. */
  directory?: string;
}

/** Runs a call through the nine steps. Refused and failed calls get an answer too. */
export type Dispatch = (request: CallRequest) => Promise<CallAnswer>;

/** Records and answers a call that its door rejects before dispatch. */
export type Refuse = (request: CallRequest, why: ContextdError) => CallAnswer | Promise<CallAnswer>;
