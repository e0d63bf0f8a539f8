import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { Destination } from './dial.ts';
import type { BoundCredential, EgressSettings, ScopeKey } from './messages.ts';

/** What ends TLS for hosts with a bound credential, and checks and completes their requests. */
export interface Broker {
  setSettings(settings: EgressSettings): void;
  /** Returns the hosts whose connections it takes from now on, or no longer takes. */
  setCredentials(scope: ScopeKey, credentials: readonly BoundCredential[]): readonly string[];
  /** True if it takes the connections of a scope to this host and port. */
  covers(scope: ScopeKey, host: string, port: number): boolean;
  /**
   * Takes an allowed connection whose ClientHello names the host. All bytes of the program, the ClientHello included, are
   * still to be read from `client`, which is paused. It dials the destination itself, and calls `connection.end`.
   */
  take(client: Socket, connection: Connection, destination: Destination): void;
}
