import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { ContextdError } from '../../core/errors.ts';
import { isDeeperThan } from '../../core/json-depth.ts';
import { MESSAGE_MAX_BYTES } from '../../core/limits.ts';

// Everything that the door refuses before a route sees the request, and every limit of its connections.

export interface HttpLimits {
  /** Bytes of the request line and all headers. */
  headerBytes: number;
  /** Milliseconds within which the headers must be complete. */
  headersMs: number;
  /** Milliseconds within which a body must be complete. */
  bodyMs: number;
  /** Milliseconds within which a request must be complete, whatever else happened. */
  requestMs: number;
  /** Milliseconds within which a client must have read a short answer. Events are cut off by their own limit. */
  answerMs: number;
  /** Bytes of a longer answer for which a client gets a further millisecond. */
  answerBytesPerMs: number;
  /** Milliseconds that a connection may stay open without a request. */
  keepAliveMs: number;
  /** Milliseconds between two looks for slow connections. */
  checkMs: number;
  /** Bytes of a body. */
  bodyBytes: number;
  /** Levels of objects and arrays in a body. */
  bodyDepth: number;
  /** Requests that one connection may have under way: a client that pipelines sends several. */
  pipelined: number;
  /** Requests under way on all connections. */
  requests: number;
  /** Milliseconds in which a client may read a refusal, before a request of which the rest is not wanted is cut off. */
  farewellMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headerBytes: 16_384,
  headersMs: 10_000,
  bodyMs: 20_000,
  requestMs: 30_000,
  answerMs: 30_000,
  answerBytesPerMs: 64,
  keepAliveMs: 5_000,
  checkMs: 1_000,
  bodyBytes: MESSAGE_MAX_BYTES,
  bodyDepth: 200,
  pipelined: 16,
  requests: 512,
  farewellMs: 500,
};

export function serverOptions(limits: HttpLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    requireHostHeader: true,
    insecureHTTPParser: false,
    noDelay: true,
  };
}

/** Sent with every answer. No header of CORS is ever sent. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The addresses by which the door may be called. */
export interface OwnNames {
  scheme: 'http' | 'https';
  /** True for `host:port` as a client writes it, in lower case. */
  isOwn(host: string): boolean;
}

/** Why a request is refused whatever it asks for; undefined if it is not. */
export function refusalOf(request: IncomingMessage, own: OwnNames): ContextdError | undefined {
  const { headersDistinct, method = '', url = '' } = request;
  const [host = '', ...moreHosts] = headersDistinct.host ?? [];
  if (moreHosts.length > 0 || !own.isOwn(host.toLowerCase())) {
    return denied('the Host of the request is not that of this door', 'Use the address that `ctxd http url` prints.');
  }
  if (!url.startsWith('/')) return denied('the request names another server', 'Send the path only.');
  const origin = `${own.scheme}://${host.toLowerCase()}`;
  for (const name of ['origin', 'referer'] as const) {
    const values = headersDistinct[name] ?? [];
    if (values.every((value) => originOf(value) === origin)) continue;
    return denied(
      `a page of another origin sent the request (${name})`,
      'Call from a program, or from the same origin.',
    );
  }
  const site = headersDistinct['sec-fetch-site'] ?? [];
  if (site.some((value) => value !== 'same-origin' && value !== 'none')) {
    return denied('a page of another origin sent the request (sec-fetch-site)', 'Call from a program.');
  }
  if (method === 'GET' || method === 'HEAD') return undefined;
  // It ends a session.
  if (method === 'DELETE' && /^\/mcp(?:\?|$)/.test(url)) return undefined;
  if (method === 'POST') return bodyFault(request);
  return denied(`the method ${method} is not served`, 'Use GET or POST; docs/http.md lists the routes.');
}

function originOf(value: string): string | undefined {
  return URL.parse(value)?.origin;
}

function bodyFault({ headersDistinct }: IncomingMessage): ContextdError | undefined {
  const [type = '', ...others] = headersDistinct['content-type'] ?? [];
  if (others.length > 0 || !/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type)) {
    return new ContextdError('ARGS_INVALID', 'the Content-Type of the body is not application/json', {
      remedy: 'Send the header `Content-Type: application/json`.',
    });
  }
  if (headersDistinct['content-encoding'] === undefined) return undefined;
  return new ContextdError('ARGS_INVALID', 'the body is compressed', { remedy: 'Send it as it is.' });
}

function denied(message: string, remedy: string): ContextdError {
  return new ContextdError('PERMISSION_DENIED', message, { remedy });
}

/** The token of a request; undefined if it sends none, or several. */
export function bearerOf({ headersDistinct }: IncomingMessage): string | undefined {
  const [value = '', ...others] = headersDistinct.authorization ?? [];
  return others.length > 0 ? undefined : /^Bearer ([\w.~+/=-]{1,256})$/i.exec(value)?.[1];
}

/**
 * The text of a body. Throws PAYLOAD_TOO_LARGE as soon as it is too long, TIMEOUT for one that does not end in time, and
 * ARGS_INVALID for one that is no UTF-8.
 */
export async function readBody(request: IncomingMessage, limits: HttpLimits): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.bodyBytes) throw tooLarge(announced, limits.bodyBytes);
  const body = await collect(request, limits);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ContextdError('ARGS_INVALID', 'the body is not UTF-8', { remedy: 'Send JSON in UTF-8.' });
  }
}

function collect(request: IncomingMessage, { bodyBytes, bodyMs }: HttpLimits): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const late = setTimeout(() => reject(tooSlow(bodyMs)), bodyMs).unref();
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > bodyBytes) reject(tooLarge(size, bodyBytes));
  };
  const onEnd = (): void => resolve(Buffer.concat(chunks));
  const onClose = (): void =>
    reject(new ContextdError('CANCELLED', 'the client went away before the body was complete'));
  request.on('data', onData).once('end', onEnd).once('close', onClose);
  return promise.finally(() => {
    clearTimeout(late);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  });
}

function tooSlow(bodyMs: number): ContextdError {
  return new ContextdError('TIMEOUT', `the body was not complete within ${bodyMs} ms`, {
    remedy: 'Send the body at once.',
  });
}

function tooLarge(size: number, limit: number): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `the body has ${size} bytes or more, the limit is ${limit}`, {
    remedy: 'Put large content into a file of the workspace and pass its path.',
    details: { size, limit },
  });
}

/** Parses a body. Throws ARGS_INVALID for text that is not JSON, or that is nested too deeply for what reads it later. */
export function parseBody(text: string, { bodyDepth }: HttpLimits): unknown {
  if (isDeeperThan(bodyDepth, text)) {
    throw new ContextdError('ARGS_INVALID', `the body is nested more than ${bodyDepth} levels deep`, {
      remedy: 'Send a flatter value.',
      details: { limit: bodyDepth },
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ContextdError('ARGS_INVALID', 'the body is not JSON', { remedy: 'Send one JSON object.' });
  }
}

/** A socket by its peer: the connection under TLS is another object than the one that the server accepted. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

interface Connection {
  readonly socket: Socket;
  /** Requests under way. */
  requests: number;
}

/** Counts connections and the requests under way on each, and makes room for new connections. */
export class HttpConnections {
  /** The oldest first. */
  readonly #open = new Map<string, Connection>();
  readonly #limits: HttpLimits;
  #requests = 0;

  constructor(server: Pick<Server, 'on'>, maxConnections: number, limits: HttpLimits) {
    this.#limits = limits;
    server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      if (this.#open.size >= maxConnections && !this.#closeOldestIdle()) {
        socket.destroy();
        return;
      }
      const connection = { socket, requests: 0 };
      this.#open.set(peer, connection);
      socket.once('close', () => {
        if (this.#open.get(peer) === connection) this.#open.delete(peer);
      });
    });
  }

  get count(): number {
    return this.#open.size;
  }

  isBusy(socket: Socket): boolean {
    return (this.#open.get(peerOf(socket))?.requests ?? 0) > 0;
  }

  /** Counts a request until the returned function is called. Throws RATE_LIMITED if there are too many. */
  enter(socket: Socket): () => void {
    const connection = this.#open.get(peerOf(socket)) ?? { socket, requests: 0 };
    if (connection.requests >= this.#limits.pipelined || this.#requests >= this.#limits.requests) {
      throw new ContextdError('RATE_LIMITED', 'too many requests are under way', {
        remedy: 'Wait for answers before sending more.',
        retryAfterMs: 1_000,
      });
    }
    connection.requests += 1;
    this.#requests += 1;
    return () => {
      connection.requests -= 1;
      this.#requests -= 1;
    };
  }

  cutOff(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #closeOldestIdle(): boolean {
    for (const [peer, { socket, requests }] of this.#open) {
      if (requests > 0) continue;
      socket.destroy();
      this.#open.delete(peer);
      return true;
    }
    return false;
  }
}
