import {
  type CallToolResult,
  type GetPromptResult,
  ProtocolError,
  type ReadResourceResult,
} from '@modelcontextprotocol/client';
import type { Clock, Timer } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { McpError, type PassedRequest } from '../core/passing.ts';
import { connectOverHttp } from './connect-over-http.ts';
import {
  type PassingOptions,
  type PassingTraits,
  type RequestLimits,
  type ToolRequest,
  UpstreamConnection,
} from './connection.ts';
import type { SeenTools } from './definitions.ts';
import type { LastLines } from './last-lines.ts';
import { LineTransport, type ServerStreams } from './line-transport.ts';
import { RelayFetch } from './relay-fetch.ts';
import { upstreamFault } from './session-faults.ts';

export interface SessionOptions {
  readonly server: string;
  /** Null: the process speaks the protocol itself; otherwise it relays requests to this URL. */
  readonly url: string | null;
  readonly version: string;
  readonly timeoutMs: number;
  readonly probeMs: number;
  readonly isLegacy: boolean;
  readonly lastLines: LastLines;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timer: Timer;
  readonly passing?: PassingTraits;
  onToolsChanged(): void;
  onUndecided(): void;
  /** Called once if the server broke a bound, or ended the stream that its answers come through. */
  onBreach(fault: ContextdError): void;
}

/** What can be asked of a server that runs. Every failure is a ContextdError with a code of gateway surface §3.4. */
export interface ServerSession {
  /** The revision of the protocol, as a date. */
  readonly protocol: string;
  /** True if it did not answer the question for its era, and is of the older one. */
  readonly isSilentLegacy: boolean;
  /** True: it asks a client by answers that ask for input, not by requests of its own. */
  readonly isModern: boolean;
  /** As it declared them. */
  readonly capabilities: JsonObject;
  listOffers(): Promise<SeenTools>;
  /** Throws CANCELLED if the signal aborts. */
  callTool(request: ToolRequest): Promise<CallToolResult>;
  /** Throws as `callTool`, and RESOURCE_NOT_FOUND if the server has no such resource. */
  readResource(uri: string, limits: RequestLimits): Promise<ReadResourceResult>;
  /** Throws as `callTool`. */
  getPrompt(name: string, args: Readonly<Record<string, string>>, limits: RequestLimits): Promise<GetPromptResult>;
  /** Throws McpError for an error of the protocol that the server answered with, and CANCELLED. */
  pass(request: PassedRequest, options: PassingOptions): Promise<JsonObject>;
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by `openSession` for a server that may answer if it is not asked for its era. */
export class MaybeLegacy extends Error {}

/** Loaded at the first use of a server: the SDK takes as long to load as the rest of the daemon. */
export async function openSession(streams: ServerStreams, options: SessionOptions): Promise<ServerSession> {
  const { server, url } = options;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw upstreamFault(server, thrown);
    }
  };
  const called = async <T>({ signal }: Pick<RequestLimits, 'signal'>, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (signal.aborted)
        throw new ContextdError('CANCELLED', `the call of ${server} was cancelled`, { cause: thrown });
      throw upstreamFault(server, thrown);
    }
  };
  const opening =
    url === null
      ? UpstreamConnection.open(new LineTransport(streams, options), options)
      : openOverHttp(url, streams, options);
  const connection = await opening.catch((thrown: unknown) => {
    if (url === null && !options.isLegacy && UpstreamConnection.mayBeLegacy(thrown)) throw new MaybeLegacy();
    throw upstreamFault(server, thrown);
  });
  return {
    protocol: connection.protocol,
    isSilentLegacy: connection.isSilentLegacy,
    isModern: connection.isModern,
    capabilities: connection.capabilities,
    listOffers: () => guarded(() => connection.listOffers()),
    callTool: (request) => called(request, () => connection.callTool(request)),
    readResource: (uri, limits) =>
      called(limits, () =>
        connection.readResource(uri, limits).catch((thrown: unknown) => {
          throw isUnknownResource(thrown) ? resourceGone(server, uri, thrown) : thrown;
        }),
      ),
    getPrompt: (name, args, limits) => called(limits, () => connection.getPrompt(name, args, limits)),
    async pass(request, passingOptions) {
      try {
        return await connection.pass(request, passingOptions);
      } catch (thrown) {
        if (request.signal.aborted)
          throw new ContextdError('CANCELLED', `the request to ${server} was cancelled`, { cause: thrown });
        if (thrown instanceof ProtocolError) throw new McpError(thrown.code, thrown.message, thrown.data);
        throw upstreamFault(server, thrown);
      }
    },
    ping: (timeoutMs) => guarded(() => connection.ping(timeoutMs)),
    close: () => connection.close(),
  };
}

/** What servers answer that do not have the resource, by revision. Nothing else of the request can be wrong. */
const UNKNOWN_RESOURCE: readonly number[] = [-32_002, -32_602];

function isUnknownResource(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && UNKNOWN_RESOURCE.includes(thrown.code);
}

function resourceGone(server: string, uri: string, cause: unknown): ContextdError {
  const shown = JSON.stringify(uri.slice(0, URI_SHOWN_CHARS));
  return new ContextdError('RESOURCE_NOT_FOUND', `the MCP server ${server} has no resource ${shown}`, {
    remedy: 'Find another one with `resource_browse`.',
    details: { server },
    cause,
  });
}

const URI_SHOWN_CHARS = 200;

function openOverHttp(url: string, streams: ServerStreams, options: SessionOptions): Promise<UpstreamConnection> {
  const { server, onBreach } = options;
  const relay = new RelayFetch(streams, options);
  const fetch: RelayFetch['fetch'] = (target, init) => relay.fetch(target, init);
  const onLost = (): void =>
    onBreach(
      new ContextdError('UPSTREAM_UNAVAILABLE', `the MCP server ${server} ended its stream of events`, {
        remedy: `A person can see more with \`ctxd upstream list ${server}\`.`,
        details: { server },
      }),
    );
  return connectOverHttp(url, fetch, { ...options, onLost });
}
