import type { JsonObject } from '../core/json.ts';
import type { McpMessage, PassedRequest } from '../core/passing.ts';
import type { Principal } from './request.ts';

/** For whom a request is passed on. */
export interface PassingCaller {
  readonly principal: Principal;
  readonly project: string;
  /** Session named by the caller; "" if none. */
  readonly sessionHint: string;
}

/** The answer of a client to a question of a server, as it arrived. */
export interface PassedAnswer {
  readonly id: string;
  readonly result_json: Buffer;
  /** Empty: `result_json` is the answer. */
  readonly error_json: Buffer;
}

/** Passes requests of MCP clients that call no tool on to the servers of a project. */
export interface PassingRequests {
  /** The scrubbed answer, on record. Throws McpError and ContextdError. */
  request(caller: PassingCaller, request: PassedRequest): Promise<JsonObject>;
  /** Ends what servers keep for a client. */
  closeClient(project: string, key: string): Promise<void>;
  /** Calls `listener` when a list changes that clients of the project have, until the returned function is called. */
  follow(project: string, listener: (message: McpMessage) => void): () => void;
}
