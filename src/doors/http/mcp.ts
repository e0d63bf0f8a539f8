import { createMcpHandler } from '@modelcontextprotocol/server';
import { ContextdError } from '../../core/errors.ts';
import { DEFAULT_SURFACE, isSurface, type Surface } from '../../core/surfaces.ts';
import { createMcpServer } from '../../mcp/server.ts';
import type { McpAnswer, McpCall, McpTools } from '../../mcp/tools.ts';
import { checkRequests } from '../management-requests.ts';
import { answerReceived, receive } from '../receive-call.ts';
import { type PlainAnswer, plain } from './answers.ts';
import { ANSWER_HEADERS } from './hardening.ts';
import { projectOf } from './project-of.ts';
import type { RouteDeps, RouteRequest } from './route.ts';

/**
 * One request of the Model Context Protocol. Nothing of it is kept: there are no sessions, so a session that a client names
 * is always unknown. Subscriptions are not offered, so no change of the list is announced here.
 */
export async function serveMcp(request: RouteRequest, deps: RouteDeps): Promise<Response | PlainAnswer> {
  if (request.headers['mcp-session-id'] !== undefined) return protocolError(404, -32_001, 'there are no sessions here');
  const gone = goneController(request.signal);
  const project = projectAsked(request);
  const surface = await surfaceAsked(request, project, deps);
  const tools = toolsOf({ project, surface }, request, gone.signal, deps);
  const passage = new Passage(() => gone.abort());
  const nextTaken = (): Promise<void> => passage.next();
  const handler = createMcpHandler(() => createMcpServer(tools, { surface, isAnnouncing: false, nextTaken }), {
    maxSubscriptions: 0,
  });
  const response = await handler.fetch(webRequest(request, deps), { parsedBody: request.body });
  return new Response(response.body?.pipeThrough(passage.stream) ?? null, {
    status: response.status,
    headers: { ...ANSWER_HEADERS, 'content-type': response.headers.get('content-type') ?? 'application/json' },
  });
}

/** A client of 2025 tries to open a stream for notifications, and goes on without it after a 405. */
export function noStream({ query, grant }: RouteRequest): PlainAnswer {
  projectOf(query.project ?? '', grant);
  const answer = protocolError(405, -32_000, 'only POST is served');
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

/**
 * The way of an answer to the client. The SDK queues without limit what it sends over HTTP, but a message passes here only when
 * the connection has room for it.
 */
class Passage {
  readonly stream: TransformStream<Uint8Array, Uint8Array>;
  #next = Promise.withResolvers<void>();

  constructor(onCancel: () => void) {
    this.stream = new TransformStream({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        this.#next.resolve();
        this.#next = Promise.withResolvers();
      },
      cancel: onCancel,
    });
  }

  /** Resolves when the next part of the answer passes. */
  next(): Promise<void> {
    return this.#next.promise;
  }
}

/** Headers that the protocol gives a meaning. The others were checked before. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

function webRequest({ headers }: RouteRequest, { host }: RouteDeps): Request {
  const kept = PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request(`http://${host}/mcp`, { method: 'POST', headers: kept });
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
        (cancel) => (ended.aborted ? cancel() : ended.addEventListener('abort', cancel)),
        (signal) => callTool({ ...call, signal }, project, request, deps),
      );
    },
  };
}

async function callTool(
  { tool, inputJson, continuedBy = '', form = 'text', signal, onProgress }: McpCall,
  projectRoot: string,
  { grant, query }: RouteRequest,
  deps: RouteDeps,
): Promise<McpAnswer> {
  const given = { requestId: '', branch: '', cwd: '', inputText: null, form } as const;
  const principal = { door: 'mcp', token: grant.name } as const;
  const session = query.session ?? '';
  const call = { ...given, principal, tool, projectRoot, session, inputJson, continuedBy };
  const received = receive(call, signal, deps.clock.now());
  const request = onProgress === undefined ? received.request : { ...received.request, onProgress };
  const { line, text, errorLine } = await answerReceived({ ...received, request }, deps);
  return { line: text === undefined ? line : '', stdout: text?.stdout ?? '', stderr: text?.stderr ?? '', errorLine };
}
