import { isNetworkGrant } from '../../catalog/grants.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Denial } from '../../core/envelope.ts';
import type { Logger } from '../../core/log.ts';
import {
  type ConnectionFact,
  type EgressCommand,
  type EgressEvent,
  type NetworkScope,
  scopeKey,
} from '../../egress/messages.ts';
import type { RunRef } from '../../sandbox/contract/command.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import { refusedConnection } from '../../sandbox/contract/refused-connection.ts';
import { MACHINE, type NetworkRules, type StoredRule } from '../../stores/network-rules.ts';
import type { NetworkCredentials } from './credentials.ts';
import type { NetworkJournal, Owner } from './journal.ts';
import { OncePermissions, type RunningCommand } from './once-permissions.ts';
import { type MirrorHost, usedOnce } from './policy.ts';
import { adviseOn, groupOf } from './refusal-advice.ts';
import { type IntroducedScope, type NetworkState, type ToolUse, USUAL_USE } from './told-scope.ts';
import { ToldScopes } from './told-scopes.ts';
import { ToolUses } from './tool-uses.ts';

export type { IntroducedScope, NetworkState } from './told-scope.ts';

export interface NetworkDeps {
  rules: NetworkRules;
  journal: NetworkJournal;
  credentials: Pick<NetworkCredentials, 'boundFor' | 'placeholdersFor' | 'rejected' | 'refresh' | 'forget'>;
  config: Config['network'];
  /** PEM certificates that hosts may have besides those that the system trusts. */
  extraCa(): readonly string[];
  /** The mirrors that a permission for a group includes. */
  mirrorsOf(group: string): readonly MirrorHost[];
  clock: Clock;
  logger: Logger;
}

/** What a network reports to. Both are built after the network, because they use it too. */
export interface NetworkEnds {
  /** Sends a command to the proxy process. */
  tell(command: EgressCommand): void;
  /** Called with what was refused to a call or job. */
  onRefused(run: RunRef, denial: Denial): void;
}

/** What programs may reach: turns what people decided into what the proxy process knows, and follows what the process reports. */
export class Network {
  readonly name = 'network';
  readonly #deps: NetworkDeps;
  readonly #told: ToldScopes;
  readonly #running = new Set<RunningCommand>();
  readonly #toolUses = new ToolUses();
  readonly #once: OncePermissions;
  #ends: NetworkEnds | null = null;

  constructor(deps: NetworkDeps) {
    this.#deps = deps;
    this.#once = new OncePermissions(deps.rules, deps.logger);
    this.#told = new ToldScopes({
      isOn: (project) => this.isOn(project),
      rulesFor: (project) => this.rulesFor(project),
      credentials: deps.credentials,
      config: deps.config,
      extraCa: deps.extraCa,
      mirrorsOf: deps.mirrorsOf,
      tell: (command) => this.#tell(command),
    });
  }

  /** Must be called once, before `start`. */
  connect(ends: NetworkEnds): void {
    this.#ends = ends;
  }

  async start(): Promise<void> {
    await this.#deps.rules.start();
    await this.#deps.journal.start();
  }

  stop(): Promise<void> {
    return this.#deps.journal.stop();
  }

  /** Leaves the proxy process to the next daemon. What a call needs from now on is asked of `introduce`. */
  leave(introduce: (scope: IntroducedScope) => void): NetworkState {
    return this.#told.leave(introduce);
  }

  /** Goes on with what the daemon before told the proxy process. */
  adopt(state: NetworkState): void {
    this.#told.adopt(state);
  }

  /** Tells the proxy process about a scope that a call needs. */
  introduce(scope: IntroducedScope): void {
    this.#told.introduce(scope);
  }

  /** False if the project has no network at all. */
  isOn(project: string): boolean {
    return this.#deps.rules.isOn(project) ?? this.#deps.config.default === 'on';
  }

  /** The network of a project's commands. Its policy is on the way to the proxy process when this returns. */
  forCommands(project: string): Pick<SandboxPolicy, 'network'> {
    if (!this.isOn(project)) return { network: 'none' };
    this.#told.introduce({ scope: { project, tool: null }, grants: [], use: USUAL_USE });
    return { network: 'project' };
  }

  /** Variables of a project's commands for clients that insist on a token. */
  placeholdersFor(project: string): Record<string, string> {
    return this.isOn(project) ? this.#deps.credentials.placeholdersFor(project) : {};
  }

  /** The network of a tool's own process and commands: none if its tool.json asks for none. */
  forTool(
    project: string,
    tool: string,
    grants: readonly string[],
    use: ToolUse = USUAL_USE,
  ): Pick<SandboxPolicy, 'network' | 'networkTool'> {
    const isAsked = grants.some(isNetworkGrant) || use.isWatched === true;
    if (!isAsked || !this.isOn(project)) return { network: 'none' };
    this.#told.introduce({ scope: { project, tool }, grants, use });
    return { network: 'project', networkTool: tool };
  }

  /** Call when rules of a scope have changed: open connections that are not allowed any more are cut. */
  changed(scope: string): void {
    this.#told.changed(scope);
  }

  /** Call when what is bound in a scope has changed. */
  credentialsChanged(scope: string): void {
    this.#told.credentialsChanged(scope);
  }

  /** Call when the certificates or mirrors of the host have changed. */
  certificatesChanged(): void {
    this.#told.certificatesChanged();
  }

  /** Call when a person has removed rules: a call that uses one of them loses it too. */
  removed(scope: string, rules: readonly StoredRule[]): void {
    const isGone = (rule: StoredRule): boolean =>
      rule.scope === scope && rules.some(({ pattern, group }) => pattern === rule.pattern && group === rule.group);
    this.#once.drop(isGone);
    this.changed(scope);
  }

  /** Forgets what was decided for a project. */
  async forget(project: string): Promise<void> {
    await this.#deps.rules.forget(project);
    await this.#deps.credentials.forget(project);
    this.#once.drop(({ scope }) => scope === project);
    this.changed(project);
  }

  /** Removes the rules that have expired, and reads the credentials again that are due. */
  async expire(): Promise<void> {
    for (const scope of await this.#deps.rules.expire()) this.changed(scope);
    await this.#deps.credentials.refresh();
  }

  /** Call when a command starts; the returned function when it has ended. */
  began(project: string, run: RunRef | undefined): () => void {
    const command = { project, run };
    this.#running.add(command);
    return () => {
      this.#running.delete(command);
      this.#over(this.#once.letGo(command));
    };
  }

  /** Follows a call of a tool's own process. `denied`: what was refused while no other call used the process. */
  beganTool(
    scope: NetworkScope,
    onRefused?: (denial: Denial) => void,
  ): { readonly denied: readonly Denial[]; end(): void } {
    return this.#toolUses.begin(scopeKey(scope), onRefused);
  }

  onEgress(event: EgressEvent, run: RunRef | null): void {
    switch (event.ev) {
      case 'ready':
        this.#deps.journal.restarted();
        this.#over(this.#once.dropConnections());
        this.#told.tellAll();
        return;
      case 'connection':
        this.#connection(event.fact, run);
        return;
      case 'closed':
        this.#deps.journal.closed(event);
        this.#over(this.#once.letGo(event.traffic.id));
        return;
      case 'log':
        // A log line holds flat fields; the proxy process is not trusted to send only those.
        this.#deps.logger[event.level](event.event, { fields: JSON.stringify(event.fields) });
        return;
      case 'rejected':
        void this.#deps.credentials.rejected(event.credential);
        return;
      case 'sent':
        this.#told.get(event.scope)?.sent.note(event.host, event.bytes);
        return;
      case 'unreported':
        this.#unreported(event);
        return;
      case 'synced':
      case 'authority':
        return;
    }
  }

  /** The rules that hold in a project, its own first; a `--once` permission as long as a call uses it. */
  rulesFor(project: string): StoredRule[] {
    const { rules } = this.#deps;
    const inUse = this.#once.inUse().filter(({ scope }) => scope === MACHINE || scope === project);
    return [...new Set([...rules.list(project), ...rules.list(MACHINE), ...inUse])];
  }

  /** The mirrors that a permission for the group includes on this machine. */
  mirrorsOf(group: string): readonly MirrorHost[] {
    return this.#deps.mirrorsOf(group);
  }

  /** Refusals in the words for an answer. `project` is where the command ran. */
  explained({ project }: NetworkScope, denied: readonly Denial[]): Denial[] {
    return adviseOn(denied, this.rulesFor(project).length === 0, this.groupOf);
  }

  /** The group that has a host, among its public hosts or the mirrors of this machine; null if none has. */
  readonly groupOf = (host: string, port: number | undefined): string | null =>
    groupOf(host, port, this.#deps.mirrorsOf);

  #tell(command: EgressCommand): void {
    if (this.#ends === null) throw new Error('the network is used before it is connected');
    this.#ends.tell(command);
  }

  #connection(fact: ConnectionFact, run: RunRef | null): void {
    const told = this.#told.get(fact.scope);
    if (told === undefined) return;
    this.#deps.journal.connection(fact, this.#ownerOf(told.scope, run));
    if (!fact.allowed) {
      for (const denial of this.explained(told.scope, [refusedConnection(fact)]))
        if (run !== null) this.#ends?.onRefused(run, denial);
        else this.#toolUses.refused(fact.scope, denial);
      return;
    }
    if (fact.via === 'dns') return;
    const used = usedOnce(told.rules, fact);
    if (used.length === 0) return;
    const inside = this.#insideOf(told.scope);
    for (const { stored } of used) this.#once.use(stored, { connection: fact.id, run, inside });
  }

  #unreported({ scope, count }: Extract<EgressEvent, { ev: 'unreported' }>): void {
    const told = this.#told.get(scope);
    if (told !== undefined) this.#deps.journal.unreported(count, this.#ownerOf(told.scope, null));
  }

  #ownerOf(scope: NetworkScope, run: RunRef | null): Owner {
    return { scope, run, running: this.#insideOf(scope).flatMap((one) => one.run ?? []) };
  }

  #insideOf(scope: NetworkScope): RunningCommand[] {
    return [...this.#running].filter(({ project }) => project === scope.project);
  }

  /** Call with the scopes whose `--once` permissions have ended. */
  #over(scopes: readonly string[]): void {
    for (const scope of scopes) this.changed(scope);
  }
}
