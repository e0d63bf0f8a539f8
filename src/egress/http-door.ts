import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerRefusal } from './answer-refusal.ts';
import type { Broker } from './broker.ts';
import type { Connection } from './connection.ts';
import { type Destination, dial, dialProxy } from './dial.ts';
import type { Asked, Asker, Gate } from './gate.ts';
import {
  type Authority,
  hostHeader,
  readAbsolute,
  readAuthority,
  requestHeaders,
  responseHeaders,
} from './http-head.ts';
import { FIRST_BYTES_MAX_MS, HEAD_MAX_BYTES, IDLE_MAX_MS, KEEP_ALIVE_MS, SILENT_REFUSAL_MS } from './limits.ts';
import type { Via } from './messages.ts';
import { admit, awaitHead, type OpenRequests } from './open-requests.ts';
import { failure, malformed, type Refusal, refusalBytes, refusalHeaders } from './refusal.ts';
import { RefusedTunnels } from './refused-tunnels.ts';
import { tunnel } from './tunnel.ts';

/** Ports on which a request without TLS has no place. */
const OTHER_PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [22, 'SSH'],
  [443, 'TLS'],
]);

/** The one host of a connection that does not speak to a proxy. */
export interface OnlyHost {
  readonly name: string;
  readonly port: number;
  readonly via: Via;
}

/** A connection of a program that speaks HTTP. */
interface Served extends OpenRequests {
  readonly asker: Asker;
  /** Null: the program knows that it speaks to a proxy, and names a host in each request. */
  readonly only: OnlyHost | null;
}

/** A proxy for HTTP: CONNECT, requests that name their host, and requests to the one host that an address stands for. */
export class HttpDoor {
  readonly #gate: Gate;
  readonly #broker: Broker | null;
  readonly #server: Server;
  readonly #served = new WeakMap<object, Served>();
  readonly #refused = new RefusedTunnels();

  constructor(gate: Gate, broker: Broker | null) {
    this.#gate = gate;
    this.#broker = broker;
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
    this.#server.on('connect', (request, _socket, head) => this.#onConnect(request, head));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const isFlood = error.code === 'HPE_HEADER_OVERFLOW';
      const what = isFlood ? `the head of a request is limited to ${HEAD_MAX_BYTES} bytes` : 'this is not HTTP';
      if (socket.writable) socket.end(refusalBytes(malformed(what)), () => socket.destroy());
      else socket.destroy();
    });
  }

  /** `socket` is paused; bytes that were read of it are put back. */
  serve(socket: Socket, asker: Asker, only: OnlyHost | null): void {
    const served: Served = { socket, asker, only, requests: 0, headTimer: undefined };
    this.#served.set(socket, served);
    awaitHead(served, FIRST_BYTES_MAX_MS);
    socket.once('close', () => clearTimeout(served.headTimer));
    this.#server.emit('connection', socket);
    socket.resume();
  }

  #onConnect(request: IncomingMessage, head: Buffer): void {
    const served = this.#served.get(request.socket);
    if (served === undefined) return void request.socket.destroy();
    const { socket, only } = served;
    clearTimeout(served.headTimer);
    socket.pause();
    if (head.length > 0) socket.unshift(head);
    const authority = readAuthority(request.url ?? '', null);
    if (authority === null || only !== null) sendRefusal(socket, malformed('this CONNECT is malformed'));
    else this.#connect(served, authority).catch(() => socket.destroy());
  }

  async #connect({ socket, asker }: Served, { host, port }: Authority): Promise<void> {
    const asked: Asked = { ...asker, host, port, via: 'connect' };
    const opened = (): void => void socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (port === 80) {
      const { name, refusal } = this.#gate.screen(asked);
      if (name === null) return sendRefusal(socket, refusal);
      opened();
      return this.serve(socket, asker, { name, port, via: 'connect' });
    }
    const { refusal, connection, destination } = await this.#gate.admit(asked);
    if (connection === null && this.#refused.isRepeated(asked)) return void endLater(socket);
    if (connection === null) return sendRefusal(socket, refusal);
    const speaksHttp = (): void => this.serve(socket, asker, { name: destination.host, port, via: 'connect' });
    const entrance = { opened, failed: (why: Refusal) => sendRefusal(socket, why), speaksHttp };
    await tunnel(socket, connection, { destination, broker: this.#broker, entrance });
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#served.get(request.socket);
    if (served === undefined) return void request.socket.destroy();
    if (!admit(served, request, response)) return;
    this.#forward(served, request, response).catch(() => response.destroy());
  }

  async #forward({ asker, only }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = only === null ? readAbsolute(request.url ?? '') : originTarget(request, only);
    if (target === null) return refuse(response, malformed('a request to this proxy has the form http://host/path'));
    const { host, port } = target.authority;
    const asked: Asked = { ...asker, host, port, via: only?.via ?? 'http' };
    if (only !== null && (host.toLowerCase() !== only.name || port !== only.port))
      return refuse(response, this.#gate.refuse(asked, `it is asked for on a connection to ${only.name}:${only.port}`));
    const other = OTHER_PROTOCOLS.get(port);
    if (other !== undefined) return refuse(response, this.#gate.refuse(asked, `port ${port} takes ${other} only`));
    const { refusal, connection, destination } = await this.#gate.admit(asked);
    if (connection === null) return refuse(response, refusal);
    response.once('close', () => connection.end());
    if (response.destroyed) return connection.end();
    try {
      const upstream = await (destination.proxy === null
        ? dial(destination, (socket) => connection.hold(socket))
        : dialProxy(destination.proxy, (socket) => connection.hold(socket)));
      upstream.setTimeout(IDLE_MAX_MS, () => connection.end('no byte passed for a long time'));
      pass(request, response, { connection, destination, upstream, path: target.path });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'it cannot be reached';
      refuse(response, failure(host, port, why));
      connection.end(why);
    }
  }
}

interface Passage {
  readonly connection: Connection;
  readonly destination: Destination;
  readonly upstream: Socket;
  readonly path: string;
}

function pass(request: IncomingMessage, response: ServerResponse, passage: Passage): void {
  const { connection, destination, upstream } = passage;
  const { host, port, proxy } = destination;
  const authority = port === 80 ? host : `${host}:${port}`;
  const path = proxy === null ? passage.path : `http://${authority}${passage.path}`;
  const headers = requestHeaders(request, authority, { connection: 'close' });
  if (proxy !== null && proxy.authorization !== null) headers.push('Proxy-Authorization', proxy.authorization);
  if (!connection.sending(path.length + bytesOf(headers))) return void response.destroy();
  const options = { method: request.method, path, headers, setHost: false, createConnection: () => upstream };
  const outgoing = requestOf(options, (answer) => {
    connection.received(bytesOf(answer.rawHeaders));
    answer.on('data', (chunk: Buffer) => connection.received(chunk.length));
    answer.on('error', () => response.destroy());
    answer.on('aborted', () => response.destroy());
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', responseHeaders(answer));
      answer.pipe(response);
    } catch {
      response.destroy();
    }
  });
  outgoing.on('error', (cause: NodeJS.ErrnoException) => {
    if (response.headersSent || !connection.isOpen) return void response.destroy();
    refuse(response, failure(host, port, `its answer failed (${cause.code ?? 'no reason given'})`));
  });
  // It was paused until something reads it.
  outgoing.once('socket', () => upstream.resume());
  request.on('data', (chunk: Buffer) => void connection.sending(chunk.length));
  request.pipe(outgoing);
}

/** The host that a request to a web server names; null if it names none, or several. */
function originTarget(request: IncomingMessage, only: OnlyHost): { authority: Authority; path: string } | null {
  const host = hostHeader(request);
  const authority = host === null ? null : readAuthority(host, 80);
  const path = request.url ?? '';
  if (authority === null || !path.startsWith('/')) return null;
  // Some clients leave the port out of Host, whatever it is.
  const port = authority.port === 80 ? only.port : authority.port;
  return { authority: { host: authority.host, port }, path };
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  answerRefusal(response, refusal, refusalHeaders(refusal));
}

/** A program shows the failure that it gets first: the refusals that say why are read before this one. */
function endLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), SILENT_REFUSAL_MS);
  socket.once('close', () => clearTimeout(timer));
}

function sendRefusal(socket: Socket, refusal: Refusal): void {
  socket.end(refusalBytes(refusal), () => socket.destroySoon());
}

function bytesOf(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length + 2, 0);
}
