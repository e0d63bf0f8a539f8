import type { JsonObject } from './json.ts';

/** A request or notification of the Model Context Protocol, without its id. */
export interface McpMessage {
  readonly method: string;
  readonly params: JsonObject;
}

/** The requests during which a server may ask their client: those to which the revision 2026-07-28 lets it answer with questions. */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Requests of clients that pass to servers besides calls of tools, and the capability of a server that answers them. */
const CAPABILITY_OF = {
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
  'logging/setLevel': 'logging',
} as const;

export type PassedMethod = keyof typeof CAPABILITY_OF | 'tools/call';

export function isPassedMethod(method: string): method is PassedMethod {
  return method === 'tools/call' || isPrimitive(method);
}

/** The capability that a server needs to answer the request; null for a request that is not passed on, and for calls of tools. */
export function capabilityFor(method: string): string | null {
  return isPrimitive(method) ? CAPABILITY_OF[method] : null;
}

function isPrimitive(method: string): method is keyof typeof CAPABILITY_OF {
  return Object.hasOwn(CAPABILITY_OF, method);
}

/** The requests that a server may make of a client. */
const ASKED = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'ping'] as const;

export function isAskedMethod(method: string): method is (typeof ASKED)[number] {
  return ASKED.some((one) => one === method);
}

/** The MCP client for which requests are passed on to servers as they are. */
export interface PassingClient {
  /** Requests with the same key share what a server keeps of a client: its level of logging, its subscriptions. */
  readonly key: string;
  /** True: it speaks a revision before 2026-07-28, in which a server asks a client by requests of its own. */
  readonly isLegacy: boolean;
  readonly capabilities: JsonObject;
  /** Aborts when the connection closes on which the client sent the request. Absent: the client has a session, whose end counts. */
  readonly left?: AbortSignal;
  /** Puts a request of a server to the client. Rejects with McpError if the client refuses or cannot be asked. */
  ask(message: McpMessage, signal: AbortSignal): Promise<JsonObject>;
  /** Sends what belongs to no single request. The client may miss it. */
  notify(message: McpMessage): void;
}

/** A request that a server of a project gets as the client made it. */
export interface PassedRequest extends McpMessage {
  readonly client: PassingClient;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. Its progress has no token. */
  notify(message: McpMessage): void;
}

/** An error of the protocol, as a server or a client gave it. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A call of a tool whose result an MCP client gets as the server gave it. It is answered when the call has ended. */
export interface PassedCall {
  readonly request: PassedRequest;
  /** Scrubbed. Undefined: the server was not reached. */
  answer?: { readonly result: JsonObject } | { readonly error: McpError };
}
