import type { ContextdError } from '../core/errors.ts';

/** What every door turns its wire form into. Checked for shape and size, not for meaning: that is dispatch's work. */
export interface CallRequest {
  /** Matches REQUEST_ID_PATTERN; made here when the caller's does not. */
  requestId: string;
  /** `proxy`: the proxy refused the call itself and reports that. */
  door: 'grpc' | 'http' | 'mcp' | 'proxy';
  tool: string;
  projectRoot: string;
  /** What the caller names as its session; "" for none. */
  sessionHint: string;
  /** The arguments as JSON text, not yet parsed; at most INPUT_MAX_BYTES. */
  inputJson: Buffer;
  /**
   * Aborted when the caller cancels, goes away or runs out of its deadline (reason CANCELLED), and when the daemon
   * stops before the call has ended (reason INTERRUPTED). The reason is a ContextdError.
   */
  signal: AbortSignal;
  /** Told scrubbed lines of what a command prints while it runs; for a person, never complete. Default: nobody waits. */
  onProgress?(text: string): void;
}

export interface CallAnswer {
  /** Exactly the line to print, without its newline. */
  line: string;
  /** The exit code of design §4. */
  exitCode: number;
  /** One line for stderr; "" on success. */
  errorLine: string;
}

/** The nine steps. A refused or failed call is an answer too. */
export type Dispatch = (request: CallRequest) => Promise<CallAnswer>;

/** Records and answers a call that does not reach dispatch: the door turns it away. */
export type Refuse = (request: CallRequest, why: ContextdError) => CallAnswer | Promise<CallAnswer>;
