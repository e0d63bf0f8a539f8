import type { Connection } from './connection.ts';
import type { Destination } from './dial.ts';
import { LOOKUP_MAX_MS, UPSTREAM_LOOKUP_MAX_MS } from './limits.ts';
import type { ConnectionFact, EgressEvent, EgressSettings, ScopeKey, ScopePolicy, Traffic, Via } from './messages.ts';
import { normalName, shownHost } from './names.ts';
import { denial, failure, overLimit, type Refusal } from './refusal.ts';
import { addressFault, decide, decideName, type Verdict } from './rules.ts';
import { Scope, type ScopeDeps } from './scope.ts';
import { readUpstream, type UpstreamProxy } from './upstream-proxy.ts';

export interface GateDeps extends ScopeDeps {
  emit(event: EgressEvent): void;
}

/** The requester: a program's connection to a listener. */
export interface Asker {
  readonly scope: ScopeKey;
  readonly namespace: string;
  readonly lane: string | null;
}

/** A program's request. */
export interface Asked extends Asker {
  /** As written by the program. */
  readonly host: string;
  /** 0 for a DNS lookup. */
  readonly port: number;
  readonly via: Via;
}

export type Screening =
  | { readonly refusal: Refusal; readonly name: null }
  | { readonly refusal: null; readonly name: string };

export type Admission =
  | { readonly refusal: Refusal; readonly connection: null; readonly destination: null }
  | { readonly refusal: null; readonly connection: Connection; readonly destination: Destination };

/** Decides which connections pass, and tracks open ones. Refusals are reported before the program learns of them. */
export class Gate {
  readonly #deps: GateDeps;
  readonly #scopes = new Map<ScopeKey, Scope>();
  #upstream: UpstreamProxy | null = null;
  #upstreamFault: string | null = null;
  #lastId = 0;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  setSettings({ upstream }: EgressSettings): void {
    const { proxy, fault } = readUpstream(upstream);
    this.#upstream = proxy;
    this.#upstreamFault = fault;
    if (fault !== null) this.#deps.emit({ ev: 'log', level: 'warn', event: 'upstream_unusable', fields: { fault } });
  }

  /** Closes connections that the new policy does not allow. */
  setPolicy(key: ScopeKey, policy: ScopePolicy): void {
    const faults = this.#scope(key).setPolicy(policy);
    for (const fault of faults)
      this.#deps.emit({ ev: 'log', level: 'warn', event: 'rule_unusable', fields: { scope: key, fault } });
  }

  /** Continues the counts of bytes that an earlier process sent to hosts. */
  restoreSent(key: ScopeKey, counts: Readonly<Record<string, number>>): void {
    this.#scope(key).uploads.restore(counts);
  }

  /** Closes the connections of a namespace that is gone. */
  endNamespace(namespace: string): void {
    for (const scope of this.#scopes.values())
      for (const connection of scope.open) if (connection.fact.namespace === namespace) connection.end();
  }

  /** Closes the connections of a scope to a host, for example because its credentials changed. */
  endHost(key: ScopeKey, host: string, why: string): void {
    for (const connection of this.#scope(key).open) if (connection.fact.host === host) connection.end(why);
  }

  /** Reports the number of unreported refusals, and returns the traffic of open connections. */
  settle(): Traffic[] {
    for (const [scope, { meter }] of this.#scopes) {
      const count = meter.takeUnreported();
      if (count > 0) this.#deps.emit({ ev: 'unreported', scope, count });
    }
    return [...this.#scopes.values()].flatMap((scope) => [...scope.open].map(({ traffic }) => traffic));
  }

  /** Admits a program's connection to a listener. Null if over the limit. The returned function frees its slot. */
  enter(key: ScopeKey): (() => void) | null {
    return this.#scope(key).enter();
  }

  /** Refuses requests that no rule allows, before any lookup. `via` dns: a name passes if it is allowed on any port. */
  screen(asked: Asked): Screening {
    const { name, why } = normalName(asked.host);
    if (name === null) return { refusal: this.refuse(asked, why), name };
    const { policy } = this.#scope(asked.scope);
    const nowMs = this.#deps.now();
    const verdict = asked.via === 'dns' ? decideName(policy, name, nowMs) : decide(policy, name, asked.port, nowMs);
    return verdict.isAllowed ? { refusal: null, name } : this.#refuse(asked, name, verdict);
  }

  /** Whether the local DNS answers for a name. Reports nothing. */
  isNameAllowed(key: ScopeKey, text: string): boolean {
    const { name } = normalName(text);
    return name !== null && decideName(this.#scope(key).policy, name, this.#deps.now()).isAllowed;
  }

  /** Refuses for a reason other than the rules, and reports it. */
  refuse(asked: Asked, why: string, isBindable = false): Refusal {
    const verdict = { isAllowed: false, rule: null, why, isAllowable: false, isBindable };
    return this.#refuse(asked, shownHost(asked.host), verdict).refusal;
  }

  /** Looks the name up once. Only the checked addresses in the destination are dialled. */
  async admit(asked: Asked): Promise<Admission> {
    const before = this.screen(asked);
    if (before.refusal !== null) return refusedAs(before.refusal);
    const scope = this.#scope(asked.scope);
    const { addresses, failed } = await this.#lookUp(scope, before.name);
    // The policy may have changed during the lookup.
    const { name, refusal } = this.screen(asked);
    if (name === null) return refusedAs(refusal);
    const full = scope.fullness();
    if (full !== null) return refusedAs(overLimit(full));
    const fault = this.#addressFault(scope, name, asked.port, addresses);
    const { rule } = decide(scope.policy, name, asked.port, this.#deps.now());
    const why = scope.isUsedUp(name) ? 'the limit of bytes that may be sent to this host is used up' : fault;
    if (why !== '')
      return refusedAs(this.#refuse(asked, name, { isAllowed: false, rule, why, isAllowable: false }).refusal);
    return this.#admitTo(scope, asked, { name, rule, addresses, failed });
  }

  #admitTo(
    scope: Scope,
    asked: Asked,
    {
      name,
      rule,
      addresses,
      failed,
    }: { name: string; rule: string | null; addresses: readonly string[]; failed: string | null },
  ): Admission {
    const fact = this.#fact(asked, name, { isAllowed: true, rule, why: '', isAllowable: false });
    this.#deps.emit({ ev: 'connection', fact });
    const connection = scope.add(fact, addresses, (traffic, why) => this.#deps.emit({ ev: 'closed', traffic, why }));
    const proxy = this.#upstream?.bypasses(name, asked.port, addresses) === false ? this.#upstream : null;
    const fault = this.#upstreamFault ?? (proxy === null ? failed : null);
    if (fault !== null) {
      connection.end(fault);
      return refusedAs(failure(name, asked.port, fault));
    }
    return { refusal: null, connection, destination: { host: name, port: asked.port, addresses, proxy } };
  }

  #addressFault(scope: Scope, name: string, port: number, addresses: readonly string[]): string {
    const own = this.#deps.ownAddresses();
    const at = { name, port, nowMs: this.#deps.now() };
    return addresses.map((address) => addressFault(scope.policy, at, address, own)).find((fault) => fault !== '') ?? '';
  }

  /** `failed`: why the name has no address, as a clause. */
  async #lookUp(scope: Scope, name: string): Promise<{ addresses: readonly string[]; failed: string | null }> {
    try {
      const maxMs = this.#upstream === null ? LOOKUP_MAX_MS : UPSTREAM_LOOKUP_MAX_MS;
      const addresses = await scope.lookUps.find(name, maxMs);
      return { addresses, failed: addresses.length === 0 ? 'its name has no address' : null };
    } catch (cause) {
      return { addresses: [], failed: lookUpFault(cause) };
    }
  }

  #refuse(asked: Asked, host: string, verdict: Verdict): { refusal: Refusal; name: null } {
    const fact = this.#fact(asked, host, verdict);
    const { isReported, starts } = this.#scope(asked.scope).meter.take(this.#deps.now());
    if (isReported) this.#deps.emit({ ev: 'connection', fact });
    if (starts)
      this.#deps.emit({
        ev: 'log',
        level: 'warn',
        event: 'refusals_not_reported',
        fields: { scope: asked.scope },
      });
    return { refusal: denial(fact), name: null };
  }

  #fact({ scope, namespace, lane, port, via }: Asked, host: string, verdict: Verdict): ConnectionFact {
    this.#lastId += 1;
    const { isAllowed: allowed, rule, why, isAllowable, isBindable = false } = verdict;
    const asked = { scope, namespace, lane, atMs: this.#deps.now(), host, port, via };
    return { id: this.#lastId, ...asked, allowed, rule, why, isAllowable, ...(isBindable ? { isBindable } : {}) };
  }

  #scope(key: ScopeKey): Scope {
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    const scope = new Scope(this.#deps, (host, bytes) => this.#deps.emit({ ev: 'sent', scope: key, host, bytes }));
    this.#scopes.set(key, scope);
    return scope;
  }
}

function refusedAs(refusal: Refusal): Admission {
  return { refusal, connection: null, destination: null };
}

function lookUpFault(cause: unknown): string {
  if (!(cause instanceof Error)) return 'its name cannot be looked up';
  return 'code' in cause ? `its name cannot be looked up (${cause.code})` : cause.message;
}
