import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../core/json.ts';
import type { Permission, TokenGrant } from '../../core/permissions.ts';
import type { CallsInFlight } from '../calls-in-flight.ts';
import type { PlainAnswer } from './answers.ts';
import type { HttpDoorDeps } from './door-deps.ts';
import type { McpSessions } from './mcp-sessions.ts';
import type { TokenRequests } from './token-requests.ts';

/** What a handler gets of a request. Query and body fit the schemas of the route. */
export interface RouteRequest {
  /** What the token grants. */
  grant: TokenGrant;
  method: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: JsonObject;
  headers: IncomingHttpHeaders;
  /** The header Last-Event-ID, or ''. */
  lastEventId: string;
  /** Aborts when the client goes away before its answer, and when the daemon stops. */
  signal: AbortSignal;
  /** Aborts when the connection closes, which may carry further requests after this one. */
  connection: AbortSignal;
}

/** What handlers use besides the request. */
export interface RouteDeps extends HttpDoorDeps {
  inFlight: CallsInFlight;
  mcpSessions: McpSessions;
  tokenRequests: TokenRequests;
  /** The door's own address, `host:port`. */
  host: string;
  /** Aborts when the door closes. */
  closing: AbortSignal;
  /** Open connections of this door. */
  connections(): number;
}

/** A route of the door. Everything about it is in its row: routing, permission, checks and `/openapi.json` follow from it. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  /** Null: open to everyone who reaches the door. */
  readonly permission: Permission | null;
  /** True: a token for one project may not call it, because its answer covers all projects. */
  readonly wholeMachine?: boolean;
  readonly summary: string;
  /** Schemas of the query's parameters, by name. */
  readonly query?: Readonly<Record<string, JsonObject>>;
  /** Parameters of the query that must be there. */
  readonly required?: readonly string[];
  readonly body?: JsonObject;
  readonly answer: { readonly type: string; readonly schema: JsonObject; readonly description: string };
  handle(request: RouteRequest, deps: RouteDeps): PlainAnswer | Response | Promise<PlainAnswer | Response>;
}
