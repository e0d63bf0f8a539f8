import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTls,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import { isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { CertificateSet } from './identities.ts';

/** Limits on the number of a door's connections and on how long each may be silent. */
export interface ConnectionLimits {
  /** Maximum connections without a certificate. One more closes the oldest of them. */
  handshakesMax: number;
  /** Maximum connections. One more is closed at once. */
  connectionsMax: number;
  /** Milliseconds within which a connection must present its certificate. */
  handshakeMs: number;
  /** Milliseconds within which a request must be complete. */
  requestMs: number;
  /** Milliseconds that a connection may stay open without a running call. */
  idleMs: number;
  /** Milliseconds within which a peer must hang up after this side ended the connection. */
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

/** An hour, with looks every 30 s. */
const SILENT_LOOKS_AFTER_CALL = 120;

export interface Admission {
  limits: ConnectionLimits;
  logger: Logger;
  /** Called for each connection that has presented its certificate. */
  onProven(connection: TLSSocket): void;
}

/** A connection that has presented its certificate. */
interface Proven {
  readonly tls: TLSSocket;
  /** Calls that are carried out. */
  calls: number;
  hasCalled: boolean;
  /** Looks since something arrived or was carried out. */
  silentLooks: number;
  /** What had arrived at the last look. */
  seenBytes: number;
}

/** A plain server in front of `tls`, because before the handshake only the plain connection exists. */
export class Connections {
  /** The listening server. */
  readonly server: Server;
  /** All connections, including those before their handshake, so that none outlives the door. */
  readonly #all = new Set<Socket>();
  /** Connections without a certificate, oldest first. */
  readonly #unproven = new Set<Socket>();
  readonly #proven = new Map<Socket, Proven>();
  #looking: NodeJS.Timeout | undefined;
  /** Plain connection of the current event. A TLS connection does not expose its plain connection. */
  readonly #plain = new AsyncLocalStorage<Socket>();
  readonly #limits: ConnectionLimits;

  constructor(tls: TlsServer, { limits, logger, onProven }: Admission) {
    this.#limits = limits;
    // Without a connection there is nothing to look at.
    const look = (): void => {
      this.#endDead();
      if (this.#proven.size === 0) this.#looking = undefined;
      else this.#looking?.refresh();
    };
    this.server = createServer((connection) => {
      if (this.#admit(connection)) this.#plain.run(connection, () => tls.emit('connection', connection));
    });
    // Node reports a failed or late handshake, but leaves the connection open.
    tls.on('tlsClientError', (error, connection) => {
      // A hook only probes whether the daemon listens, and sends nothing.
      const hasAsked = connection.bytesRead > 0 || !isErrno(error, 'ECONNRESET');
      logger[hasAsked ? 'warn' : 'debug']('grpc.handshake_refused', { why: error.message });
      connection.destroy();
    });
    tls.on('secureConnection', (connection) => {
      const proven = this.#plain.getStore();
      if (proven !== undefined) {
        this.#unproven.delete(proven);
        this.#proven.set(proven, { tls: connection, calls: 0, hasCalled: false, silentLooks: -1, seenBytes: 0 });
        this.#looking ??= setTimeout(look, limits.idleMs).unref();
      }
      connection.on('error', (error) => logger.debug('grpc.connection_failed', { why: error.message }));
      connection.once('finish', () => this.#destroySoon(connection));
      onProven(connection);
    });
  }

  get count(): number {
    return this.#all.size;
  }

  /** Call within an event of a connection. Closes it after a moment, so that its peer still gets the answer. */
  endCurrent(): void {
    const connection = this.#plain.getStore();
    if (connection !== undefined) this.#destroySoon(connection);
  }

  /** Call within an event of a connection. Counts a call of it until the returned function is called. */
  hold(): () => void {
    const plain = this.#plain.getStore();
    const proven = plain === undefined ? undefined : this.#proven.get(plain);
    if (proven === undefined) throw new Error('a call without a connection');
    proven.calls += 1;
    proven.hasCalled = true;
    let hasLeft = false;
    return () => {
      if (!hasLeft) proven.calls -= 1;
      hasLeft = true;
    };
  }

  /**
   * Of a peer that dies just after its handshake Node hears nothing: the error of a write that no one waits for is lost, and
   * with it the end of the connection. So a connection ends on which nothing arrives and nothing runs. One that had a call gets
   * longer, because its peer may be a stopped process that has not read its answer.
   */
  #endDead(): void {
    for (const [plain, proven] of this.#proven) {
      const bytes = proven.tls.bytesRead;
      const isSilent = proven.calls === 0 && proven.seenBytes === bytes;
      proven.silentLooks = isSilent ? proven.silentLooks + 1 : 0;
      proven.seenBytes = bytes;
      if (proven.silentLooks >= (proven.hasCalled ? SILENT_LOOKS_AFTER_CALL : 1)) plain.destroy();
    }
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
      this.#proven.delete(connection);
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
 * The door's TLS server: TLS 1.3 and HTTP/2 only. Every client needs a certificate from our own authority.
 * `handshakeMs` limits the handshake, in milliseconds.
 */
export function createTlsServer(certificates: CertificateSet, handshakeMs: number): TlsServer {
  return createTls({
    ...secureContextOf(certificates),
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
  });
}

/** What new connections are proven with. Connections that are open do not change. */
export function secureContextOf({ authority, server }: CertificateSet): SecureContextOptions {
  return { ca: authority, cert: server.certificate, key: server.privateKey, minVersion: 'TLSv1.3' };
}
