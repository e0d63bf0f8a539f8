import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Logger } from '../core/log.ts';
import type { CertificateSet } from './identities.ts';

/** How many connections a door holds, and how long one may say nothing. */
export interface ConnectionLimits {
  /** Connections that have not shown a certificate yet; for one more the oldest of them is closed. */
  handshakesMax: number;
  /** Connections in all; one more is closed at once. */
  connectionsMax: number;
  /** Milliseconds within which a connection must have shown its certificate. */
  handshakeMs: number;
  /** Milliseconds within which a request that was begun must be complete. */
  requestMs: number;
  /** Milliseconds that a connection may be open without a call under way. */
  idleMs: number;
  /** Milliseconds in which a peer must hang up after the connection was ended here. */
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
  /** Takes a connection that has shown its certificate. */
  onProven(connection: TLSSocket): void;
}

/** A plain server in front of `tls`, because only the plain connection is there before the handshake. */
export class Connections {
  /** What the door listens with. */
  readonly server: Server;
  /** All there are, before their handshake already: one that never ends must not outlive the door. */
  readonly #all = new Set<Socket>();
  /** Those without a certificate, in the order in which they came. */
  readonly #unproven = new Set<Socket>();
  /** A TLS connection does not say which plain one it is made of; the context of all its events does. */
  readonly #plain = new AsyncLocalStorage<Socket>();
  readonly #limits: ConnectionLimits;

  constructor(tls: TlsServer, { limits, logger, onProven }: Admission) {
    this.#limits = limits;
    this.server = createServer((connection) => {
      if (this.#admit(connection)) this.#plain.run(connection, () => tls.emit('connection', connection));
    });
    // Node only reports a handshake that failed or took too long, and leaves the connection open.
    tls.on('tlsClientError', (error, connection) => {
      logger.warn('grpc.handshake_refused', { why: error.message });
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

  /** Within an event of a connection: closes it after a moment, in which its peer still gets an answer. */
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

  /** A connection that was ended here stays half open until the peer ends it too. */
  #destroySoon(connection: Socket): void {
    const late = setTimeout(() => connection.destroy(), this.#limits.farewellMs).unref();
    connection.once('close', () => clearTimeout(late));
  }
}

/**
 * The TLS end of the door: TLS 1.3 only, and no connection without a client certificate of our own authority. It
 * speaks HTTP/2 alone; a client that does not ask for that is cut off by the handshake. `handshakeMs`: milliseconds for it.
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
