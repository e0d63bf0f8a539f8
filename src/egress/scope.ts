import { Connection } from './connection.ts';
import { CLIENTS_PER_SCOPE, CONNECTIONS_PER_SCOPE } from './limits.ts';
import { LookUps } from './look-ups.ts';
import type { ConnectionFact, ScopePolicy, Traffic } from './messages.ts';
import { RefusalMeter } from './refusal-meter.ts';
import {
  addressFault,
  type CompiledPolicy,
  compilePolicy,
  decide,
  isNamed,
  NOTHING_ALLOWED,
  nextExpiry,
} from './rules.ts';
import { Uploads } from './uploads.ts';

/** Timers cannot wait longer than 24 days; a policy is looked at once a day. */
const LONGEST_WAIT_MS = 86_400_000;

export interface ScopeDeps {
  now(): number;
  /** All addresses of a name, as the system knows them. */
  resolve(name: string): Promise<readonly string[]>;
  /** Addresses of this machine, in their normal form. */
  ownAddresses(): ReadonlySet<string>;
}

/** The policy of a scope and its open connections. */
export class Scope {
  readonly meter = new RefusalMeter();
  readonly open = new Set<Connection>();
  readonly lookUps: LookUps;
  readonly uploads: Uploads;
  readonly #now: () => number;
  readonly #ownAddresses: () => ReadonlySet<string>;
  #policy = NOTHING_ALLOWED;
  #clients = 0;
  #expiryTimer: NodeJS.Timeout | undefined;

  /** `reportSent`: called with what a host got, at least, of which a new process has to know. */
  constructor({ now, ownAddresses, resolve }: ScopeDeps, reportSent: (host: string, bytes: number) => void) {
    this.#now = now;
    this.#ownAddresses = ownAddresses;
    this.lookUps = new LookUps(resolve);
    this.uploads = new Uploads({ isNamed: (host) => isNamed(this.#policy, host), report: reportSent });
  }

  get policy(): CompiledPolicy {
    return this.#policy;
  }

  /** Cuts what it does not allow. Returns what is wrong with its rules. */
  setPolicy(policy: ScopePolicy): readonly string[] {
    this.#policy = compilePolicy(policy);
    this.#recheck();
    return this.#policy.faults;
  }

  /** Null: over the limit. The returned function gives the place back. */
  enter(): (() => void) | null {
    if (this.#clients >= CLIENTS_PER_SCOPE) return null;
    this.#clients += 1;
    return () => {
      this.#clients -= 1;
    };
  }

  /** Why no connection can be added, as a sentence's start; null if one can. */
  fullness(): string | null {
    if (this.open.size < CONNECTIONS_PER_SCOPE) return null;
    return `this project has ${CONNECTIONS_PER_SCOPE} open connections, which is the limit`;
  }

  /** True if the host takes no more bytes. */
  isUsedUp(host: string): boolean {
    return this.uploads.isUsedUp(host, this.#policy.uploadMaxBytes);
  }

  add(
    fact: ConnectionFact,
    addresses: readonly string[],
    onClosed: (traffic: Traffic, why: string) => void,
  ): Connection {
    const endUpload = this.uploads.begin(fact.host);
    const connection: Connection = new Connection({
      fact,
      addresses,
      maySend: (bytes) => this.uploads.maySend(fact.host, bytes, this.#policy.uploadMaxBytes),
      onEnd: (why) => {
        this.open.delete(connection);
        endUpload();
        onClosed(connection.traffic, why);
      },
    });
    this.open.add(connection);
    return connection;
  }

  /** Cuts what is not allowed now, and comes back when the next rule ends. */
  #recheck(): void {
    const nowMs = this.#now();
    for (const connection of this.open) {
      const why = this.#fault(connection, nowMs);
      if (why !== '') connection.end(`the rules changed: ${why}`);
    }
    clearTimeout(this.#expiryTimer);
    const end = nextExpiry(this.#policy, nowMs);
    if (end !== null)
      this.#expiryTimer = setTimeout(() => this.#recheck(), Math.min(end - nowMs, LONGEST_WAIT_MS)).unref();
  }

  #fault({ fact: { host: name, port }, addresses }: Connection, nowMs: number): string {
    const verdict = decide(this.#policy, name, port, nowMs);
    if (!verdict.isAllowed) return verdict.why;
    const own = this.#ownAddresses();
    const faults = addresses.map((address) => addressFault(this.#policy, { name, port, nowMs }, address, own));
    return faults.find((fault) => fault !== '') ?? '';
  }
}
