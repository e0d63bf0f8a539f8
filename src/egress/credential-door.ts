import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { answerRefusal } from './answer-refusal.ts';
import type { Connection } from './connection.ts';
import { findCredential } from './credential-match.ts';
import type { Destination } from './dial.ts';
import type { Asked } from './gate.ts';
import { hostHeader, requestHeaders, responseHeaders } from './http-head.ts';
import { FIRST_BYTES_MAX_MS, HEAD_MAX_BYTES, IDLE_MAX_MS, KEEP_ALIVE_MS } from './limits.ts';
import type { BoundCredential, ScopeKey } from './messages.ts';
import { admit, awaitHead, type OpenRequests } from './open-requests.ts';
import { failure, malformed, type Refusal, refusalBytes, refusalHeaders } from './refusal.ts';
import { masked, SecretMask, spellings } from './secret-mask.ts';
import { trustedCertificates, UpstreamAgent } from './upstream-agent.ts';

export interface CredentialDoorDeps {
  /** Refuses, and reports it. */
  refuse(asked: Asked, why: string, isBindable: boolean): Refusal;
  /** The host answered that it does not accept the credential. */
  rejected(scope: ScopeKey, credential: string): void;
}

/** What a connection is for. */
export interface Purpose {
  readonly destination: Destination;
  /** Those of the host, as they are now. */
  credentials(): readonly BoundCredential[];
}

interface Served extends Purpose, OpenRequests {
  readonly socket: TLSSocket;
  readonly connection: Connection;
  readonly upstream: UpstreamAgent;
}

/** Headers by which a request names itself otherwise than by its line, which some servers believe. */
const OTHER_NAMES =
  /^(?:x-)?(?:forwarded|original|envoy-original|rewrite|method|http-method|accel|sendfile|proxy|script-name|path-info)(?:-|$)|(?:^|-)override(?:-|$)/;

/** Speaks HTTP with programs in place of a host: each request is checked, and gets the credential. */
export class CredentialDoor {
  readonly #deps: CredentialDoorDeps;
  readonly #server: Server;
  readonly #served = new WeakMap<object, Served>();
  #trusted: readonly string[] = trustedCertificates([]);

  constructor(deps: CredentialDoorDeps) {
    this.#deps = deps;
    this.#server = createServer({
      maxHeaderSize: HEAD_MAX_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      insecureHTTPParser: false,
    });
    // None is left out: a request must be passed on as it was read. The size of the head is bounded.
    this.#server.maxHeadersCount = 0;
    this.#server.timeout = IDLE_MAX_MS;
    this.#server.on('request', (request, response) => this.#onRequest(request, response));
    this.#server.on('connect', (request) => this.#onTunnel(request, 'it asks for a tunnel (CONNECT)'));
    this.#server.on('upgrade', (request) => this.#onTunnel(request, 'it asks for another protocol (Upgrade)'));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const isFlood = error.code === 'HPE_HEADER_OVERFLOW';
      const what = isFlood ? `the head of a request is limited to ${HEAD_MAX_BYTES} bytes` : 'this is not HTTP';
      if (socket.writable) socket.end(refusalBytes(malformed(what)), () => socket.destroy());
      else socket.destroy();
    });
  }

  /** Certificates (PEM) that hosts may have besides the system's. */
  trust(extra: readonly string[]): void {
    this.#trusted = trustedCertificates(extra);
  }

  serve(socket: TLSSocket, connection: Connection, purpose: Purpose): void {
    const upstream = new UpstreamAgent(connection, purpose.destination, () => this.#trusted);
    const served: Served = { ...purpose, socket, connection, upstream, requests: 0, headTimer: undefined };
    this.#served.set(socket, served);
    awaitHead(served, FIRST_BYTES_MAX_MS);
    socket.once('close', () => {
      clearTimeout(served.headTimer);
      upstream.destroy();
    });
    this.#server.emit('connection', socket);
  }

  #onTunnel({ socket }: IncomingMessage, why: string): void {
    const served = this.#served.get(socket);
    if (served === undefined) return void socket.destroy();
    const refusal = this.#refuse(served, why);
    socket.end(refusalBytes(refusal), () => socket.destroy());
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#served.get(request.socket);
    if (served === undefined) return void request.socket.destroy();
    if (!admit(served, request, response)) return;
    const why = hostFault(request, served.connection);
    const check = findCredential(served.credentials(), { method: request.method ?? '', target: request.url ?? '' });
    if (why !== null) answer(response, this.#refuse(served, why));
    else if (check.credential === null) answer(response, this.#refuse(served, check.why, check.isBindable));
    else this.#pass(served, request, response, check);
  }

  #pass(
    served: Served,
    request: IncomingMessage,
    response: ServerResponse,
    { credential, target }: { credential: BoundCredential; target: string },
  ): void {
    const { connection, destination, upstream } = served;
    const { host, port } = destination;
    const replaced = ['authorization', 'accept-encoding', credential.header.replaceAll('_', '-')];
    const isDropped = (name: string): boolean => replaced.includes(name) || OTHER_NAMES.test(name);
    const authority = port === 443 ? host : `${host}:${port}`;
    const headers = requestHeaders(request, authority, { connection: 'keep-alive', isDropped });
    if (!connection.sending(target.length + bytesOf(headers))) return void response.destroy();
    const options = {
      method: request.method,
      path: target,
      // Without compression, so that the secret is found in the answer.
      headers: [...headers, 'Accept-Encoding', 'identity', credential.header, credential.value],
      setHost: false,
      agent: upstream,
      timeout: IDLE_MAX_MS,
    };
    const outgoing = requestOf(options, (incoming) => {
      if (incoming.statusCode === 401) this.#deps.rejected(connection.fact.scope, credential.id);
      passAnswer(connection, { incoming, response, secrets: spellings(credential.value) });
    });
    // It changed the protocol, or said nothing.
    outgoing.on('close', () => {
      if (!response.headersSent) answer(response, failure(host, port, 'it closed the connection without an answer'));
    });
    outgoing.on('timeout', () => connection.end('no byte passed for a long time'));
    outgoing.on('error', (cause: NodeJS.ErrnoException) => {
      const why = connection.isOpen ? `its answer failed (${cause.code ?? cause.message})` : '';
      if (response.headersSent || !connection.isOpen) return void response.destroy();
      answer(response, failure(host, port, upstream.fault ?? why));
    });
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    request.on('data', (chunk: Buffer) => void connection.sending(chunk.length));
    request.pipe(outgoing);
  }

  #refuse({ connection: { fact } }: Served, why: string, isBindable = false): Refusal {
    return this.#deps.refuse(fact, why, isBindable);
  }
}

interface Passage {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly secrets: readonly string[];
}

function passAnswer(connection: Connection, { incoming, response, secrets }: Passage): void {
  connection.received(bytesOf(incoming.rawHeaders));
  incoming.on('data', (chunk: Buffer) => connection.received(chunk.length));
  incoming.on('error', () => response.destroy());
  incoming.on('aborted', () => response.destroy());
  const reason = masked(incoming.statusMessage ?? '', secrets);
  try {
    const headers = responseHeaders(incoming).map((text) => masked(text, secrets));
    response.writeHead(incoming.statusCode ?? 502, reason, headers);
    incoming.pipe(new SecretMask(secrets)).pipe(response);
  } catch {
    response.destroy();
  }
}

/** A request reaches the host of its connection only. Some clients leave the port out of Host. */
function hostFault(request: IncomingMessage, { fact: { host, port } }: Connection): string | null {
  const named = hostHeader(request)?.toLowerCase();
  if (named === undefined) return 'it names no host, or several';
  return named === host || named === `${host}:${port}` ? null : 'it names another host than its connection';
}

function answer(response: ServerResponse, refusal: Refusal): void {
  const { Connection: _, ...headers } = refusalHeaders(refusal);
  answerRefusal(response, refusal, headers);
}

function bytesOf(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length + 2, 0);
}
