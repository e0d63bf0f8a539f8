import type { AnswerForm } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';

/** Who makes a call: the door it came through, and whose credentials opened that door. */
export interface Principal {
  /** `proxy`: the proxy refused the call itself and reports that. */
  readonly door: 'grpc' | 'http' | 'mcp' | 'proxy';
  /** The program that the client's verified certificate was made for. */
  readonly client: 'proxy' | 'cli';
}

/** A call as every door hands it to dispatch. Its shape and size are checked; its meaning is not. */
export interface CallRequest {
  /** Matches REQUEST_ID_PATTERN. The door makes a new one if the caller's does not match. */
  requestId: string;
  principal: Principal;
  tool: string;
  projectRoot: string;
  /** The session that the caller names; "" if it names none. */
  sessionHint: string;
  /** The branch that the caller's environment names; "" if it names none. The arguments may name another. */
  branchHint: string;
  /** The arguments as JSON text, not yet parsed; at most INPUT_MAX_BYTES. */
  inputJson: Buffer;
  /** The value of the tool's primary property as plain text, in addition to `inputJson`; null if no words were given. */
  inputText: Buffer | null;
  form: AnswerForm;
  /** The directory that the call is made from: an absolute path in the project, by its text; the root if unknown. */
  cwd: string;
  /**
   * Aborted when the caller cancels, disconnects or runs out of its deadline (reason CANCELLED), and when the daemon
   * stops before the call has ended (reason INTERRUPTED). The reason is a ContextdError.
   */
  signal: AbortSignal;
  /** Receives scrubbed lines of what a command prints while it runs: for a person to watch, never complete. */
  onProgress?(text: string): void;
}

export interface CallAnswer {
  /** JSON form: the line to print, without its newline. */
  line: string;
  /** The exit status of the command that ran; the exit code of the error (design §4) if the call failed. */
  exitCode: number;
  /** JSON form: one line for stderr; "" on success. */
  errorLine: string;
  /** Text form: what to print on both descriptors, as it is. Absent in the JSON form. */
  text?: { stdout: string; stderr: string };
}

/** Carries a call through the nine steps. A refused or failed call gets an answer too. */
export type Dispatch = (request: CallRequest) => Promise<CallAnswer>;

/** Records and answers a call that the door turns away before dispatch. */
export type Refuse = (request: CallRequest, why: ContextdError) => CallAnswer | Promise<CallAnswer>;
