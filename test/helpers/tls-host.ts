import { type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Authority } from '#src/egress/authority.js';

/** What a host of a test got. */
export interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
}

/** An HTTPS server with a name of its own, and an authority that nobody trusts by default. */
export class TlsHost {
  readonly got: Got[] = [];
  readonly certificate: string;
  readonly server: Server;

  private constructor(
    certificate: string,
    context: Awaited<ReturnType<Authority['contextFor']>>,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.certificate = certificate;
    this.server = createServer({ SNICallback: (_name, done) => done(null, context) }, (request, response) => {
      const { method = '', url = '', headers, rawHeaders } = request;
      this.got.push({ method, url, headers, rawHeaders });
      answer(request, response);
    });
  }

  /** `certified`: the name in its certificate. */
  static async listen(
    {
      name,
      address,
      port = 443,
      certified = name,
    }: { name: string; address: string; port?: number; certified?: string },
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<TlsHost> {
    const authority = await Authority.create(Date.now);
    const host = new TlsHost(
      await authority.certificateFor([name, certified]),
      await authority.contextFor(certified),
      answer,
    );
    await new Promise<void>((resolve, reject) => {
      host.server.once('error', reject).listen({ host: address, port }, resolve);
    });
    return host;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Ask {
  /** Of the proxy. */
  readonly proxy: number;
  readonly host: string;
  readonly port?: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: Buffer;
  readonly ca: string;
}

/** A program of a sandbox: CONNECT, then TLS, which it checks against `ca`, then a request. */
export async function askThrough(ask: Ask): Promise<Answer> {
  const { host, port = 443, method = 'GET', path = '/', headers = {}, body } = ask;
  const secure = await tlsThrough(ask);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = {
    method,
    path,
    headers: { Host: port === 443 ? host : `${host}:${port}`, ...headers },
    setHost: false,
  };
  const request = requestOf({ ...options, createConnection: () => secure }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
    response.on('end', () => {
      const { statusCode: status = 0, statusMessage: reason = '' } = response;
      resolve({ status, reason, headers: response.headers, body: Buffer.concat(chunks) });
      secure.destroy();
    });
  });
  request.on('error', reject).end(body);
  return promise;
}

/** Rejects if the certificate is not one that `ca` vouches for. */
export async function tlsThrough({ proxy, host, port = 443, ca }: Pick<Ask, 'proxy' | 'host' | 'port' | 'ca'>) {
  const socket = connectTcp({ host: '127.0.0.1', port: proxy });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
  socket.once('data', (data) => {
    if (data.toString().startsWith('HTTP/1.1 200 ')) resolve();
    else reject(new Error(data.toString().split('\r\n')[0]));
  });
  socket.once('error', reject);
  await promise;
  const secure = connectTls({ socket, servername: host, ca, ALPNProtocols: ['http/1.1'] });
  await new Promise<void>((done, fail) => void secure.once('secureConnect', done).once('error', fail));
  secure.on('error', () => {});
  return secure;
}
