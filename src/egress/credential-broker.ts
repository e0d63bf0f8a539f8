import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Lock } from '../core/lock.ts';
import { Authority, RENEWAL_MS } from './authority.ts';
import type { Broker } from './broker.ts';
import type { Connection } from './connection.ts';
import { CredentialDoor, type CredentialDoorDeps } from './credential-door.ts';
import type { Destination } from './dial.ts';
import { FIRST_BYTES_MAX_MS } from './limits.ts';
import type { BoundCredential, EgressEvent, EgressSettings, ScopeKey } from './messages.ts';

export interface CredentialBrokerDeps extends Pick<CredentialDoorDeps, 'refuse'> {
  emit(event: EgressEvent): void;
  now(): number;
}

/** What is bound in a scope. */
interface Bound {
  /** By `host:port`. */
  readonly places: Map<string, readonly BoundCredential[]>;
  /** Made when the first credential is bound; null before. */
  authority: Promise<Authority> | null;
  renewal: NodeJS.Timeout | undefined;
  /** Certificates take different times to make, but the `authority` events must come in order. */
  readonly announcements: Lock;
}

/**
 * Ends TLS for the hosts of bound credentials, and for no others. Nothing of a request is recorded besides what a refusal
 * says about its kind.
 */
export class CredentialBroker implements Broker {
  readonly #deps: CredentialBrokerDeps;
  readonly #door: CredentialDoor;
  readonly #scopes = new Map<ScopeKey, Bound>();

  constructor(deps: CredentialBrokerDeps) {
    this.#deps = deps;
    this.#door = new CredentialDoor({
      refuse: deps.refuse,
      rejected: (scope, credential) => deps.emit({ ev: 'rejected', scope, credential }),
    });
  }

  setSettings({ extraCa }: EgressSettings): void {
    this.#door.trust(extraCa);
  }

  setCredentials(scope: ScopeKey, credentials: readonly BoundCredential[]): readonly string[] {
    const bound = this.#scopes.get(scope) ?? {
      places: new Map(),
      authority: null,
      renewal: undefined,
      announcements: new Lock(),
    };
    this.#scopes.set(scope, bound);
    const before = new Set(bound.places.keys());
    bound.places.clear();
    for (const credential of credentials) {
      const place = placeOf(credential.host, credential.port);
      bound.places.set(place, [...(bound.places.get(place) ?? []), credential]);
    }
    this.#tellAuthority(scope, bound);
    const changed = [...before].filter((place) => !bound.places.has(place));
    for (const place of bound.places.keys()) if (!before.has(place)) changed.push(place);
    return changed.map((place) => place.slice(0, place.lastIndexOf(':')));
  }

  covers(scope: ScopeKey, host: string, port: number): boolean {
    return this.#scopes.get(scope)?.places.has(placeOf(host, port)) === true;
  }

  take(client: Socket, connection: Connection, destination: Destination): void {
    connection.hold(client);
    this.#take(client, connection, destination).catch((cause: unknown) => {
      connection.end(`its TLS could not be ended (${cause instanceof Error ? cause.name : 'no reason given'})`);
    });
  }

  async #take(client: Socket, connection: Connection, destination: Destination): Promise<void> {
    const { scope, host, port } = connection.fact;
    const bound = this.#scopes.get(scope);
    const authority = await bound?.authority;
    if (bound === undefined || authority === undefined || authority === null) return connection.end();
    const secureContext = await authority.contextFor(host);
    if (!connection.isOpen) return;
    const secure = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    connection.hold(secure);
    const giveUp = setTimeout(() => connection.end('it did not finish the TLS handshake in time'), FIRST_BYTES_MAX_MS);
    secure.once('close', () => {
      clearTimeout(giveUp);
      connection.end();
    });
    secure.on('error', (cause) => connection.end(handshakeFault(cause)));
    secure.once('secure', () => {
      clearTimeout(giveUp);
      this.#door.serve(secure, connection, {
        destination,
        credentials: () => bound.places.get(placeOf(host, port)) ?? [],
      });
    });
  }

  /** Tells the certificate that sandboxes of the scope trust, now and each time it is renewed. */
  #tellAuthority(scope: ScopeKey, bound: Bound): void {
    clearTimeout(bound.renewal);
    const hosts = [...new Set([...bound.places.values()].flat().map(({ host }) => host))];
    if (hosts.length > 0) {
      bound.authority ??= Authority.create(this.#deps.now);
      bound.renewal = setTimeout(() => this.#tellAuthority(scope, bound), RENEWAL_MS).unref();
    }
    const { authority } = bound;
    void bound.announcements.run(async () => {
      const certificate =
        hosts.length === 0 || authority === null ? null : await (await authority).certificateFor(hosts);
      this.#deps.emit({ ev: 'authority', scope, certificate });
    });
  }
}

function placeOf(host: string, port: number): string {
  return `${host}:${port}`;
}

/** A program that does not trust the sandbox's certificates says so in an alert. */
function handshakeFault(cause: NodeJS.ErrnoException): string {
  return /UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE/.test(cause.code ?? '')
    ? 'the program does not trust the certificate that stands in for a host with a credential'
    : '';
}
