import { createMcpHandler, isInitializeRequest, type ServerEventBus } from '@modelcontextprotocol/server';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { MAY_ASK, type PassedRequest } from '../../core/passing.ts';
import { DEFAULT_SURFACE, isSurface, type Surface } from '../../core/surfaces.ts';
import { ANSWER_MS, createPassthroughServer, type PassingPort } from '../../mcp/passthrough-server.ts';
import { createMcpServer } from '../../mcp/server.ts';
import type { McpAnswer, McpCall, McpTools } from '../../mcp/tools.ts';
import { checkRequests } from '../management-requests.ts';
import { passingPort } from '../passing-port.ts';
import { answerReceived, receive } from '../receive-call.ts';
import { type PlainAnswer, plain } from './answers.ts';
import { keptOpen } from './kept-open.ts';
import type { McpSessionTransport } from './mcp-sessions.ts';
import { Passage, type PassageDeps } from './passage.ts';
import { projectOf } from './project-of.ts';
import type { RouteDeps, RouteRequest } from './route.ts';

/**
 * One request of the Model Context Protocol. Nothing of it is kept: there are no sessions, so a session that a client names
 * is always unknown. Subscriptions are not offered, so no change of the list is announced here.
 */
export async function serveMcp(request: RouteRequest, deps: RouteDeps): Promise<Response | PlainAnswer> {
  const project = projectAsked(request);
  const gone = goneController(request.signal);
  const isListening = request.body.method === 'subscriptions/listen';
  const passageWith = (given: Pick<PassageDeps, 'onLeft' | 'onUnread'>): Passage =>
    new Passage({
      ...given,
      asked: request.body,
      isAllowed: () => !isListening || deps.tokens.isValid(request.grant),
    });
  const asked = webRequest(request, deps);
  const owner = { grant: request.grant, project };
  const id = request.headers['mcp-session-id'];
  // A call of a session goes on when its connection breaks: the client says if it wants to cancel it.
  const sentIn = async (session: McpSessionTransport): Promise<Response> =>
    passageWith({ onLeft() {}, onUnread: () => cancelIn(session, request.body.id) }).sent(
      await session.handleRequest(asked, { parsedBody: request.body }),
    );
  if (id !== undefined) {
    const known = deps.mcpSessions.find(String(id), owner);
    return known === undefined ? protocolError(404, -32_001, 'there is no such session') : sentIn(known);
  }
  const surface = await surfaceAsked(request, project, deps);
  if (surface === 'passthrough' && isInitializeRequest(request.body)) {
    const kept = new AbortController().signal;
    const tools = toolsOf({ project, surface }, request, kept, deps);
    const port = portOf(project, request, deps, kept);
    const session = await deps.mcpSessions.open(
      owner,
      (name) => createPassthroughServer(tools, port, name),
      (server) => deps.passing.follow(project, (message) => void server.notification(message).catch(() => {})),
    );
    return sentIn(session);
  }
  const passage = passageWith({ onLeft: () => gone.abort(), onUnread: () => gone.abort() });
  const tools = toolsOf({ project, surface }, request, gone.signal, deps);
  const nextTaken = (): Promise<void> => passage.next();
  const createServer = () =>
    surface === 'passthrough'
      ? createPassthroughServer(tools, portOf(project, request, deps, gone.signal), '')
      : createMcpServer(tools, { surface, isAnnouncing: false, nextTaken });
  const offered =
    surface === 'passthrough' ? { maxSubscriptions: 1, bus: listChanges(project, deps) } : NO_SUBSCRIPTIONS;
  const handler = createMcpHandler(createServer, offered);
  if (isListening) deps.closing.addEventListener('abort', () => void handler.close(), { signal: gone.signal });
  const isAskable = surface === 'passthrough' && MAY_ASK.has(String(request.body.method));
  return passage.sent(await handler.fetch(asked, { parsedBody: request.body }), isAskable ? keptOpen(ANSWER_MS) : {});
}

/** As the client would cancel it. */
function cancelIn({ onmessage }: McpSessionTransport, requestId: JsonObject[string] | undefined): void {
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
  onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
}

const NO_SUBSCRIPTIONS = { maxSubscriptions: 0 } as const;

/** What a client may subscribe to: changes of lists. */
function listChanges(project: string, { passing }: RouteDeps): ServerEventBus {
  return {
    publish() {},
    subscribe: (listener) =>
      passing.follow(project, ({ method }) => {
        const [, list] = method.split('/');
        if (list === 'tools' || list === 'prompts' || list === 'resources') listener({ kind: `${list}_list_changed` });
      }),
  };
}

/** What a client of a session asks for besides its requests: its stream of notifications, or the end of the session. */
export async function serveSession(request: RouteRequest, deps: RouteDeps): Promise<Response | PlainAnswer> {
  const { headers, grant, query, method } = request;
  const project = projectOf(query.project ?? '', grant);
  const id = headers['mcp-session-id'];
  if (id === undefined) return noStream();
  const known = deps.mcpSessions.find(String(id), { grant, project });
  if (known === undefined) return protocolError(404, -32_001, 'there is no such session');
  const response = await known.handleRequest(webRequest(request, deps));
  if (method === 'DELETE') return plain('', undefined, response.status);
  return new Passage({ asked: {}, isAllowed: () => deps.tokens.isValid(grant), onLeft() {}, onUnread() {} }).sent(
    response,
  );
}

/** A client of 2025 tries to open a stream for notifications, and goes on without it after a 405. */
function noStream(): PlainAnswer {
  const answer = protocolError(405, -32_000, 'only POST is served without a session');
  return { ...answer, headers: { ...answer.headers, allow: 'POST' } };
}

function protocolError(status: number, code: number, message: string): PlainAnswer {
  return plain(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }), undefined, status);
}

function projectAsked({ query, grant }: RouteRequest): string {
  const project = projectOf(query.project ?? '', grant);
  if (project !== '') return project;
  throw new ContextdError('ARGS_INVALID', 'the address names no project', {
    remedy: 'Use /mcp?project=DIR, or a token for one project: `ctxd http token --name NAME --project DIR`.',
  });
}

/**
 * Aborts when the client goes away before its answer begins; `Passage` sees one that goes away later. A daemon that stops
 * does not abort it, because the answers of interrupted calls are still sent.
 */
function goneController(signal: AbortSignal): AbortController {
  const gone = new AbortController();
  signal.addEventListener('abort', () => {
    if (signal.reason instanceof ContextdError && signal.reason.code === 'CANCELLED') gone.abort();
  });
  return gone;
}

/** Headers that the protocol gives a meaning. The others were checked before. */
const PROTOCOL_HEADERS =
  /^(?:accept|content-type|last-event-id|mcp-(?:protocol-version|session-id|method|name|param-.{1,100}))$/;

function webRequest({ headers, method }: RouteRequest, { host }: RouteDeps): Request {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && PROTOCOL_HEADERS.test(name) ? [[name, value]] : [],
  );
  return new Request(`http://${host}/mcp`, { method, headers: kept });
}

/** The surface of the address, otherwise that of the settings. */
async function surfaceAsked({ query, signal }: RouteRequest, root: string, deps: RouteDeps): Promise<Surface> {
  const { surface = '' } = query;
  if (isSurface(surface)) return surface;
  const listed = await checkRequests(deps.management).watchTools({ root, knownVersion: '', surface, signal });
  return isSurface(listed.surface) ? listed.surface : DEFAULT_SURFACE;
}

interface Shown {
  project: string;
  surface: Surface;
}

function toolsOf({ project, surface }: Shown, request: RouteRequest, gone: AbortSignal, deps: RouteDeps): McpTools {
  const list: McpTools['list'] = async (signal) => {
    const watch = { root: project, knownVersion: '', surface, signal };
    const { tools = [] } = await checkRequests(deps.management).watchTools(watch);
    return tools.map((tool) => ({
      name: tool.name ?? '',
      purpose: tool.purpose ?? '',
      schemaJson: tool.schema_json ?? '',
      toolId: tool.tool_id ?? '',
      definitionJson: tool.definition_json ?? '',
    }));
  };
  return {
    list,
    find: async (name, signal) => (await list(signal)).find((tool) => tool.name === name),
    call: (call) => {
      const ended = AbortSignal.any([call.signal, gone]);
      return deps.inFlight.run(
        (cancel) => cancelWith(ended, cancel),
        (signal) => callTool({ ...call, signal }, project, request, deps),
      );
    },
  };
}

/** Requests that are passed on end when the door closes, and when the client is gone. */
function portOf(
  project: string,
  { grant, query, connection: left }: RouteRequest,
  deps: RouteDeps,
  gone: AbortSignal,
): PassingPort {
  const principal = { door: 'mcp', token: grant.name } as const;
  const port = passingPort({ principal, project, sessionHint: query.session ?? '' }, deps);
  const inFlight = <T>(request: PassedRequest, work: (request: PassedRequest) => Promise<T>): Promise<T> =>
    deps.inFlight.run(
      (cancel) => cancelWith(AbortSignal.any([request.signal, gone]), cancel),
      (signal) => work({ ...request, signal, client: { ...request.client, left } }),
    );
  return {
    request: (request) => inFlight(request, (running) => port.request(running)),
    call: (tool, args, request) => inFlight(request, (running) => port.call(tool, args, running)),
  };
}

function cancelWith(signal: AbortSignal, cancel: () => void): void {
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
}

async function callTool(
  { tool, inputJson, surface, form = 'text', signal, onProgress }: McpCall,
  projectRoot: string,
  { grant, query }: RouteRequest,
  deps: RouteDeps,
): Promise<McpAnswer> {
  const given = { requestId: '', branch: '', cwd: '', inputText: null, form } as const;
  const principal = { door: 'mcp', token: grant.name } as const;
  const session = query.session ?? '';
  const call = { ...given, principal, tool, projectRoot, session, inputJson, surface };
  const received = receive(call, signal, deps.clock.now());
  const request = onProgress === undefined ? received.request : { ...received.request, onProgress };
  const { line, text, errorLine } = await answerReceived({ ...received, request }, deps);
  return { line: text === undefined ? line : '', stdout: text?.stdout ?? '', stderr: text?.stderr ?? '', errorLine };
}
