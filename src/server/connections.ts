import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { isErrno } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { CertificateSet } from './identities.ts';

/** How many connections a door holds, and how long one may be silent. */
export interface ConnectionLimits {
  /** Connections without a certificate yet. One more closes the oldest of them. */
  handshakesMax: number;
  /** All connections. One more is closed at once. */
  connectionsMax: number;
  /** Milliseconds within which a connection must present its certificate. */
  handshakeMs: number;
  /** Milliseconds within which a request must be complete. */
  requestMs: number;
  /** Milliseconds that a connection may be open without a running call. */
  idleMs: number;
  /** Milliseconds within which a peer must hang up after this side has ended the connection. */
  farewellMs: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  handshakesMax: 512,
  connectionsMax: 1024,
  handshakeMs: 5_000,
  requestMs: 30_000,
  idleMs: 30_000,
  farewellMs: 500,
};

export interface Admission {
  limits: ConnectionLimits;
  logger: Logger;
  /** Called with each connection that has presented its certificate. */
  onProven(connection: TLSSocket): void;
}

/** A plain server in front of `tls`, because before the handshake there is only the plain connection. */
export class Connections {
  /** The server that listens. */
  readonly server: Server;
  /** All connections, also before their handshake, so that none outlives the door. */
  readonly #all = new Set<Socket>();
  /** Connections without a certificate, oldest first. */
  readonly #unproven = new Set<Socket>();
  /** The plain connection of the current event. A TLS connection does not expose its plain connection. */
  readonly #plain = new AsyncLocalStorage<Socket>();
  readonly #limits: ConnectionLimits;

  constructor(tls: TlsServer, { limits, logger, onProven }: Admission) {
    this.#limits = limits;
    this.server = createServer((connection) => {
      if (this.#admit(connection)) this.#plain.run(connection, () => tls.emit('connection', connection));
    });
    // Node reports a handshake that failed or took too long, but leaves the connection open.
    tls.on('tlsClientError', (error, connection) => {
      // A hook only asks whether somebody listens.
      const hasAsked = connection.bytesRead > 0 || !isErrno(error, 'ECONNRESET');
      logger[hasAsked ? 'warn' : 'debug']('grpc.handshake_refused', { why: error.message });
      connection.destroy();
    });
    tls.on('secureConnection', (connection) => {
      const proven = this.#plain.getStore();
      if (proven !== undefined) this.#unproven.delete(proven);
      connection.on('error', (error) => logger.debug('grpc.connection_failed', { why: error.message }));
      connection.once('finish', () => this.#destroySoon(connection));
      onProven(connection);
    });
  }

  /** Called within an event of a connection: closes it after a moment, so that its peer still gets the answer. */
  endCurrent(): void {
    const connection = this.#plain.getStore();
    if (connection !== undefined) this.#destroySoon(connection);
  }

  cutOff(): void {
    for (const connection of this.#all) connection.destroy();
  }

  #admit(connection: Socket): boolean {
    if (this.#all.size >= this.#limits.connectionsMax) {
      connection.destroy();
      return false;
    }
    const [oldest] = this.#unproven;
    if (oldest !== undefined && this.#unproven.size >= this.#limits.handshakesMax) oldest.destroy();
    this.#all.add(connection);
    this.#unproven.add(connection);
    connection.once('close', () => {
      this.#all.delete(connection);
      this.#unproven.delete(connection);
    });
    return true;
  }

  /** A connection that this side has ended stays half open until the peer ends it too. */
  #destroySoon(connection: Socket): void {
    const late = setTimeout(() => connection.destroy(), this.#limits.farewellMs).unref();
    connection.once('close', () => clearTimeout(late));
  }
}

/**
 * The TLS server of the door: TLS 1.3 and HTTP/2 only, and every client needs a certificate of our own authority.
 * `handshakeMs` is the limit for the handshake in milliseconds.
 */
export function createTlsServer(certificates: CertificateSet, handshakeMs: number): TlsServer {
  return createTls({
    ca: certificates.authority,
    cert: certificates.server.certificate,
    key: certificates.server.privateKey,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
  });
}
