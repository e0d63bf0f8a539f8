import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, getCACertificates } from 'node:tls';
import type { Connection } from './connection.ts';
import { type Destination, DialError, dial } from './dial.ts';
import { DIAL_MAX_MS } from './limits.ts';

/** Certificates (PEM): those that the machine trusts, or Node's own if it has none, and those given. */
export function trustedCertificates(extra: readonly string[]): readonly string[] {
  const ofSystem = getCACertificates('system');
  return [...(ofSystem.length > 0 ? ofSystem : getCACertificates('bundled')), ...extra];
}

/** The TLS connections to the host of one program's connection: one at a time, used again for the next request. */
export class UpstreamAgent extends Agent {
  /** Why the host was not reached, as a clause; null if it was. */
  fault: string | null = null;
  readonly #connection: Connection;
  readonly #destination: Destination;
  readonly #trusted: () => readonly string[];

  constructor(connection: Connection, destination: Destination, trusted: () => readonly string[]) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
    this.#connection = connection;
    this.#destination = destination;
    this.#trusted = trusted;
  }

  override createConnection(
    _options: unknown,
    done?: (fault: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    this.#open().then(
      (socket) => done?.(null, socket),
      (cause: unknown) => {
        this.fault = cause instanceof DialError ? cause.message : 'it cannot be reached';
        const error = cause instanceof Error ? cause : new DialError(this.fault);
        // The type asks for a socket besides the fault; Node takes none.
        (done as ((fault: Error) => void) | undefined)?.(error);
      },
    );
    return undefined;
  }

  async #open(): Promise<Duplex> {
    this.fault = null;
    const raw = await dial(this.#destination, (socket) => this.#connection.hold(socket));
    return await this.#secure(raw);
  }

  /** Nothing is sent before the host has proved its name. */
  #secure(raw: Socket): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const secure = connect({
      socket: raw,
      servername: this.#destination.host,
      ca: [...this.#trusted()],
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
    });
    this.#connection.hold(secure);
    const fail = (why: string): void => {
      clearTimeout(giveUp);
      secure.destroy();
      reject(new DialError(why));
    };
    const giveUp = setTimeout(() => fail('its TLS handshake took too long'), DIAL_MAX_MS);
    secure.once('error', (cause: NodeJS.ErrnoException) => fail(`its TLS failed (${cause.code ?? 'no reason given'})`));
    secure.once('close', () => fail('it closed the connection'));
    secure.once('secureConnect', () => {
      clearTimeout(giveUp);
      resolve(secure);
    });
    secure.on('error', () => {});
    return promise;
  }
}
