import type { Config } from '../../config/schema.ts';
import { type EgressCommand, type ScopeKey, scopeKey } from '../../egress/messages.ts';
import { MACHINE, type StoredRule } from '../../stores/network-rules.ts';
import type { NetworkCredentials } from './credentials.ts';
import { commandRules, declaredBy, grantedRules, type MirrorHost, mirrorRules, policyOf, toolRules } from './policy.ts';
import { SentBytes } from './sent-bytes.ts';
import { type IntroducedScope, type NetworkState, type ToldScope, usedBy } from './told-scope.ts';

export interface ToldScopesDeps {
  /** False if the project has no network at all. */
  isOn(project: string): boolean;
  /** The rules that hold in a project. */
  rulesFor(project: string): readonly StoredRule[];
  credentials: Pick<NetworkCredentials, 'boundFor'>;
  config: Config['network'];
  extraCa(): readonly string[];
  mirrorsOf(group: string): readonly MirrorHost[];
  /** Sends a command to the proxy process. */
  tell(command: EgressCommand): void;
}

/** The scopes that the proxy process knows, each with the policy and the credentials that it was told last. */
export class ToldScopes {
  readonly #deps: ToldScopesDeps;
  readonly #told = new Map<ScopeKey, ToldScope>();
  #introduceThere: ((scope: IntroducedScope) => void) | null = null;

  constructor(deps: ToldScopesDeps) {
    this.#deps = deps;
  }

  get(key: ScopeKey): ToldScope | undefined {
    return this.#told.get(key);
  }

  /** Leaves the proxy process to the next daemon. What a call needs from now on is asked of `introduce`. */
  leave(introduce: (scope: IntroducedScope) => void): NetworkState {
    this.#introduceThere = introduce;
    return [...this.#told.values()].map(({ scope, grants, use, sent }) => ({ scope, grants, use, sent: sent.counts }));
  }

  /** Goes on with what the daemon before told the proxy process. */
  adopt(state: NetworkState): void {
    for (const { scope, grants, use, sent } of state) {
      this.introduce({ scope, grants, use });
      for (const [host, bytes] of Object.entries(sent)) this.#told.get(scopeKey(scope))?.sent.note(host, bytes);
    }
  }

  /** Tells the proxy process about a scope that a call needs. Its policy is on the way when this returns. */
  introduce({ scope, grants, use }: IntroducedScope): void {
    if (this.#introduceThere !== null) {
      this.#introduceThere({ scope, grants, use });
      return;
    }
    const key = scopeKey(scope);
    const known = this.#told.get(key);
    const same = JSON.stringify([grants, use]);
    if (known !== undefined && JSON.stringify([known.grants, known.use]) === same) return;
    if (this.#told.size === 0) this.#tellSettings();
    const told = {
      scope,
      grants,
      use,
      rules: [],
      hasCredentials: known?.hasCredentials ?? false,
      sent: known?.sent ?? new SentBytes(),
    };
    this.#told.set(key, told);
    this.#tellPolicy(told);
  }

  /** Call when rules of a scope have changed: open connections that are not allowed any more are cut. */
  changed(scope: string): void {
    for (const told of this.#within(scope)) this.#tellPolicy(told);
  }

  /** Call when what is bound in a scope has changed. */
  credentialsChanged(scope: string): void {
    for (const told of this.#within(scope)) this.#tellCredentials(told);
  }

  /** Call when the certificates or mirrors of the host have changed. */
  certificatesChanged(): void {
    if (this.#told.size === 0) return;
    this.#tellSettings();
    this.changed(MACHINE);
  }

  /** Call when the proxy process has started: it knows nothing. */
  tellAll(): void {
    this.#tellSettings();
    for (const told of this.#told.values()) {
      this.#tellSent(told);
      this.#tellPolicy(told);
    }
  }

  #within(scope: string): ToldScope[] {
    return [...this.#told.values()].filter((told) => scope === MACHINE || told.scope.project === scope);
  }

  #tellPolicy(told: ToldScope): void {
    const { scope, grants } = told;
    const { mirrorsOf, config } = this.#deps;
    const isTool = scope.tool !== null;
    const decided = this.#deps.isOn(scope.project) ? this.#deps.rulesFor(scope.project) : [];
    const denials = decided.filter(({ verdict }) => verdict === 'deny');
    const ofMirrors = isTool
      ? mirrorRules(grants, [...denials, ...grantedRules(grants)], mirrorsOf)
      : mirrorRules(null, decided, mirrorsOf);
    told.rules = [...(isTool ? toolRules(grants, decided) : commandRules(decided)), ...ofMirrors];
    const { undeclaredWhy } = told.use;
    const declared = isTool ? { declared: declaredBy(grants, mirrorsOf) } : {};
    const policy = {
      ...policyOf(told.rules, config.upload_max_mb),
      ...declared,
      ...(undeclaredWhy === '' ? {} : { undeclaredWhy }),
    };
    this.#deps.tell({ op: 'policy', scope: scopeKey(scope), policy });
    this.#tellCredentials(told);
  }

  #tellSent({ scope, sent }: ToldScope): void {
    const hosts = sent.counts;
    if (Object.keys(hosts).length > 0) this.#deps.tell({ op: 'sent', scope: scopeKey(scope), hosts });
  }

  /** A tool from elsewhere gets no credential of the person, unless the person named the URL that gets it. */
  #tellCredentials(told: ToldScope): void {
    const { project, tool } = told.scope;
    const bound = this.#deps.isOn(project) ? this.#deps.credentials.boundFor(project) : [];
    const credentials = tool === null ? bound : usedBy(told.use.credential, bound);
    if (credentials.length === 0 && !told.hasCredentials) return;
    told.hasCredentials = credentials.length > 0;
    this.#deps.tell({ op: 'credentials', scope: scopeKey(told.scope), credentials });
  }

  #tellSettings(): void {
    const { upstream_proxy: url, upstream_no_proxy: noProxy } = this.#deps.config;
    this.#deps.tell({
      op: 'settings',
      settings: { upstream: url === null ? null : { url, noProxy }, extraCa: this.#deps.extraCa() },
    });
  }
}
