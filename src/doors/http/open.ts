import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ContextdError } from '../../core/errors.ts';
import { createCallsInFlight } from '../calls-in-flight.ts';
import { refusal } from './answers.ts';
import { createApp } from './app.ts';
import type { HttpDoorDeps, OpenHttp } from './door-deps.ts';
import { HTTP_LIMITS, HttpConnections, type HttpLimits, refusalOf, serverOptions } from './hardening.ts';
import { listen, namesOf, readTls } from './listen.ts';
import { McpSessions } from './mcp-sessions.ts';
import { ROUTES } from './routes.ts';
import { TokenRequests } from './token-requests.ts';

/** Opens the door. Throws why it cannot listen. */
export async function openHttp(deps: HttpDoorDeps): Promise<OpenHttp> {
  const limits = { ...HTTP_LIMITS, ...deps.limits };
  const tls = await readTls(deps.config);
  const options = serverOptions(limits);
  const server: Server =
    tls === null ? createServer(options) : createTlsServer({ ...options, cert: tls.certificate, key: tls.key });
  const connections = new HttpConnections(server, deps.config.max_connections, limits);
  const port = await listen(server, deps.config, deps.paths.httpPortFile);
  const own = namesOf(deps.config.host, port, tls);
  const inFlight = createCallsInFlight();
  const closing = new AbortController();
  const mcpSessions = new McpSessions({
    isValid: (grant) => deps.tokens.isValid(grant),
    onEnd: (project, id) => void deps.passing.closeClient(project, id),
  });
  const routeDeps = {
    ...deps,
    inFlight,
    mcpSessions,
    tokenRequests: new TokenRequests(deps.config.max_connections),
    host: own.host,
    closing: closing.signal,
    connections: () => connections.count,
  };
  const app = createApp(ROUTES, routeDeps, limits);
  const serve = getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const why = refusalOf(request, own) ?? enter(connections, request, response);
    response.once('prefinish', () => cutOffUnread(response, limits));
    response.once('finish', () => cutOffRest(request, limits));
    if (why === undefined) void serve(request, response);
    else sendRefusal(response, why, deps);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || connections.isBusy(socket)) socket.destroy();
    else socket.end(rawRefusal(faultOf(error), deps), () => socket.destroy());
  });
  let closed: Promise<void> | undefined;
  return {
    at: { url: own.url, host: own.host },
    certificateSha256: tls?.sha256 ?? '',
    leave() {
      closing.abort();
      closed ??= new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
    },
    async close() {
      closing.abort();
      closed ??= new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await inFlight.interrupt();
      mcpSessions.close();
      const late = setTimeout(() => connections.cutOff(), limits.farewellMs);
      await closed;
      clearTimeout(late);
    },
  };
}

function enter(
  connections: HttpConnections,
  { socket }: IncomingMessage,
  response: ServerResponse,
): ContextdError | undefined {
  try {
    response.once('close', connections.enter(socket));
    return undefined;
  } catch (thrown) {
    return ContextdError.from(thrown);
  }
}

/** A client that does not read would keep its connection, and count as a request under way, without an end. */
function cutOffUnread(response: ServerResponse, { answerMs, answerBytesPerMs }: HttpLimits): void {
  const bytes = Number(response.getHeader('content-length') ?? 0);
  const late = setTimeout(() => response.socket?.destroy(), answerMs + bytes / answerBytesPerMs).unref();
  response.once('finish', () => clearTimeout(late)).once('close', () => clearTimeout(late));
}

/** A client that got its answer may still be sending, without an end. */
function cutOffRest(request: IncomingMessage, { farewellMs }: HttpLimits): void {
  if (request.complete) return;
  const late = setTimeout(() => request.socket.destroy(), farewellMs).unref();
  request.once('end', () => clearTimeout(late));
}

function sendRefusal(response: ServerResponse, why: ContextdError, deps: HttpDoorDeps): void {
  const { status, headers, body } = refusal(why, deps.refusalLine(why));
  deps.logger.debug('http.refused', { code: why.code, why: why.message });
  response.writeHead(status, headers).end(body);
}

/** For bytes that are no request, so that there is nothing to answer through. */
function rawRefusal(why: ContextdError, deps: HttpDoorDeps): string {
  const { status, headers, body } = refusal(why, deps.refusalLine(why));
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' });
  return `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

function faultOf({ code }: NodeJS.ErrnoException): ContextdError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ContextdError('TIMEOUT', 'the request was not complete in time', { remedy: 'Send it at once.' });
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ContextdError('PAYLOAD_TOO_LARGE', 'the headers are too large', { remedy: 'Send fewer headers.' });
  return new ContextdError('ARGS_INVALID', 'the bytes are not a request of HTTP/1.1', {
    remedy: 'Use an HTTP client.',
  });
}
