import { Connection } from './connection.ts';
import { CLIENTS_PER_SCOPE, CONNECTIONS_PER_SCOPE, HOSTS_PER_SCOPE } from './limits.ts';
import { LookUps } from './look-ups.ts';
import type { ConnectionFact, ScopePolicy, Traffic } from './messages.ts';
import { RefusalMeter } from './refusal-meter.ts';
import { addressFault, type CompiledPolicy, compilePolicy, decide, NOTHING_ALLOWED, nextExpiry } from './rules.ts';

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
  readonly #now: () => number;
  readonly #ownAddresses: () => ReadonlySet<string>;
  /** Bytes sent to each host while the process lives. */
  readonly #sent = new Map<string, number>();
  #policy = NOTHING_ALLOWED;
  #clients = 0;
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor({ now, ownAddresses, resolve }: ScopeDeps) {
    this.#now = now;
    this.#ownAddresses = ownAddresses;
    this.lookUps = new LookUps(resolve);
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

  /** Why no connection to the host can be added, as a sentence's start; null if one can. */
  fullness(host: string): string | null {
    if (this.open.size >= CONNECTIONS_PER_SCOPE)
      return `this project has ${CONNECTIONS_PER_SCOPE} open connections, which is the limit`;
    if (!this.#sent.has(host) && this.#sent.size >= HOSTS_PER_SCOPE)
      return `this project has reached ${HOSTS_PER_SCOPE} different hosts, which is the limit`;
    return null;
  }

  /** True if the host takes no more bytes. */
  isUsedUp(host: string): boolean {
    const { uploadMaxBytes } = this.#policy;
    return uploadMaxBytes !== null && (this.#sent.get(host) ?? 0) >= uploadMaxBytes;
  }

  add(
    fact: ConnectionFact,
    addresses: readonly string[],
    onClosed: (traffic: Traffic, why: string) => void,
  ): Connection {
    const connection: Connection = new Connection({
      fact,
      addresses,
      maySend: (bytes) => this.#maySend(fact.host, bytes),
      onEnd: (why) => {
        this.open.delete(connection);
        onClosed(connection.traffic, why);
      },
    });
    this.open.add(connection);
    if (!this.#sent.has(fact.host)) this.#sent.set(fact.host, 0);
    return connection;
  }

  #maySend(host: string, bytes: number): boolean {
    const sent = (this.#sent.get(host) ?? 0) + bytes;
    const { uploadMaxBytes } = this.#policy;
    if (uploadMaxBytes !== null && sent > uploadMaxBytes) return false;
    this.#sent.set(host, sent);
    return true;
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
