import { Channel } from '../../core/channel.ts';
import { within } from '../../core/deadline.ts';
import type { Denial } from '../../core/envelope.ts';
import type { Logger } from '../../core/log.ts';
import {
  type BridgeCommand,
  DIRECT_PORTS,
  DNS_PORT,
  type EgressCommand,
  type EgressEvent,
  type NetworkScope,
  PROXY_PORT,
  type ScopeKey,
  type ScopePolicy,
  scopeKey,
} from '../../egress/messages.ts';
import { closeNamespace, type LoopbackNamespace } from '../machine/network.ts';
import { Attribution, Lanes, type NetworkUse } from './attribution.ts';
import { Authorities } from './authorities.ts';
import { EgressKeeper, type EgressLink } from './egress-keeper.ts';
import {
  closeListeners,
  type ListenerHandle,
  makeListeningNamespace,
  type OpenedListeners,
  openInNamespace,
  type WantedPorts,
} from './listeners.ts';

/** Ports of rules that are opened in one namespace. */
const RULE_PORTS_MAX = 64;
/** Milliseconds that the end of a command waits for what the proxy process knows of it. */
const SYNC_MAX_MS = 1_000;
/** The daemon numbers its own. */
const OWN_SYNCS = 2 ** 40;

export interface BridgeDeps {
  /** bubblewrap, and the command line of the namespaces in which sandboxes start. */
  place(): Promise<{ readonly bubblewrap: string; readonly enter: readonly string[] }>;
  /** Starts the proxy process. */
  start: ConstructorParameters<typeof EgressKeeper>[0]['start'];
  /** `run` is the number of the command; null if it is not known. */
  onEvent(event: EgressEvent, run: number | null): void;
  /** A proxy process has started and knows nothing: tell it everything, then call `told` with the number. */
  onReady(start: number): void;
  logger: Logger;
}

const CUT: Denial = {
  kind: 'network',
  rule: 'the process that carries connections ended while the command ran: its connections were cut',
  how_to_allow: 'Run the command again: the process was started again.',
};
const NOT_STARTED: Denial = {
  kind: 'network',
  rule: 'the process that carries connections does not run',
  how_to_allow: 'A person can see why: ctxd doctor',
};

/** A namespace of which the bridge holds the listeners. */
interface Held {
  readonly namespace: LoopbackNamespace;
  readonly scope: ScopeKey;
  readonly listeners: OpenedListeners;
  readonly lanes: Lanes;
  /** Settles when the ports of the policy that was sent last are open. */
  opening: Promise<void>;
}

/** How a sandbox reaches the network. */
export interface SandboxNetworkLease {
  /** Where its proxy variables lead. */
  readonly lane: string;
  /** True if names can be looked up. */
  readonly hasNames: boolean;
  release(): void;
}

/**
 * The spawner's side of the network: namespaces with their listeners, the process that accepts on them, and whose each
 * connection is.
 */
export class Bridge {
  readonly #deps: BridgeDeps;
  readonly #held = new Map<string, Held>();
  readonly #rulePorts = new Map<ScopeKey, readonly number[]>();
  readonly #attribution = new Attribution();
  readonly #authorities = new Authorities();
  readonly #egress: EgressKeeper;
  #syncs = this.#numberSyncs(OWN_SYNCS);

  constructor(deps: BridgeDeps) {
    this.#deps = deps;
    this.#egress = new EgressKeeper({
      start: deps.start,
      onEvent: (event) => this.#receive(event),
      onReady: deps.onReady,
      onTold: (link) => {
        for (const held of this.#held.values()) {
          sendListeners(link, held, held.listeners);
          this.#openMissing(held);
        }
      },
      onLost: () => this.#lost(),
      onUnavailable: () => {
        for (const { listeners } of this.#held.values()) forgetListeners(listeners);
        this.#attribution.unavailable(NOT_STARTED);
        this.#authorities.lost();
      },
      logger: deps.logger,
    });
  }

  /** Why there is no network at the moment; null if there is, or if nothing has needed it. */
  get failure(): string | null {
    return this.#egress.failure;
  }

  /** A namespace whose programs reach what the policy of the scope allows. Throws SANDBOX_UNAVAILABLE. */
  async open(scope: NetworkScope): Promise<LoopbackNamespace> {
    const key = scopeKey(scope);
    const { bubblewrap, enter } = await this.#deps.place();
    this.#egress.want();
    const wanted = this.#egress.failure === null ? this.#wantedBy(key) : { tcp: [], udp: [] };
    const { namespace, listeners } = await makeListeningNamespace(bubblewrap, enter, wanted);
    this.#reportFailed(listeners, namespace.name);
    const held: Held = { namespace, scope: key, listeners, lanes: new Lanes(), opening: Promise.resolve() };
    this.#held.set(namespace.name, held);
    this.#egress.whenTold((link) => sendListeners(link, held, listeners));
    this.#openMissing(held);
    return namespace;
  }

  /** Gives a namespace back. The proxy process ends with the last one. */
  close(namespace: LoopbackNamespace): void {
    const held = this.#held.get(namespace.name);
    this.#held.delete(namespace.name);
    closeNamespace(namespace);
    if (held === undefined) return;
    closeListeners(held.listeners);
    this.#egress.send({ op: 'close', namespace: namespace.name });
    if (this.#held.size > 0) return;
    this.#egress.unwant();
    this.#authorities.lost();
  }

  /** Settles when the ports of every policy that was told so far are open, and when the certificate to trust is known. */
  async settled(name: string): Promise<void> {
    const held = this.#held.get(name);
    await held?.opening;
    if (held !== undefined && this.#egress.failure === null) await this.#authorities.settled(held.scope);
  }

  /** What sandboxes in the namespace trust because a credential is bound (PEM); null: nothing. */
  certificateOf(name: string): string | null {
    const held = this.#held.get(name);
    return held === undefined ? null : this.#authorities.certificateOf(held.scope);
  }

  /** Null if the namespace has no proxy. */
  lease(name: string): SandboxNetworkLease | null {
    const held = this.#held.get(name);
    if (held === undefined || !held.listeners.tcp.has(PROXY_PORT)) return null;
    const lane = held.lanes.take();
    if (lane === null) return null;
    return { lane: lane.address, hasNames: held.listeners.udp.has(DNS_PORT), release: () => lane.release() };
  }

  /** All namespaces, with the ports that programs inside cannot listen on. */
  networks(): { readonly name: string; readonly ports: readonly number[] }[] {
    return [...this.#held].map(([name, { listeners }]) => ({ name, ports: [...listeners.tcp.keys()] }));
  }

  tell(command: EgressCommand): void {
    const isSent = this.#egress.send(command);
    if (command.op === 'credentials') this.#authorities.told(command.scope, command.credentials.length > 0, isSent);
    if (command.op !== 'policy') return;
    this.#rulePorts.set(command.scope, rulePortsOf(command.policy));
    for (const held of this.#held.values()) if (held.scope === command.scope) this.#openMissing(held);
  }

  told(start: number): void {
    this.#egress.told(start);
  }

  /** Notes what the command's network does, until `end`, which waits for what the proxy process has not reported yet. */
  begin(user: Parameters<Attribution['begin']>[0]): { end(): Promise<NetworkUse>; cancel(): void } {
    this.#egress.refresh();
    const end = this.#attribution.begin(user);
    return {
      cancel: end,
      end: async () => {
        await this.sync();
        return end();
      },
    };
  }

  async stop(): Promise<void> {
    for (const { listeners } of this.#held.values()) forgetListeners(listeners);
    await this.#egress.stop();
  }

  #wantedBy(scope: ScopeKey): WantedPorts {
    return { tcp: [PROXY_PORT, ...DIRECT_PORTS, ...(this.#rulePorts.get(scope) ?? [])], udp: [DNS_PORT] };
  }

  /** Opens what is not open yet: ports of new rules, or all after a time without a proxy process. */
  #openMissing(held: Held): void {
    held.opening = held.opening.then(async () => {
      const { failed, ...open } = held.listeners;
      const wanted = this.#wantedBy(held.scope);
      const tcp = wanted.tcp.filter((port) => !open.tcp.has(port) && !failed.has(port));
      const udp = wanted.udp.filter((port) => !open.udp.has(port) && !failed.has(port));
      const isUseless = tcp.length + udp.length === 0 || this.#egress.failure !== null;
      if (isUseless || this.#held.get(held.namespace.name) !== held) return;
      try {
        await this.#openPorts(held, { tcp, udp });
      } catch (cause) {
        this.#deps.logger.warn('network.ports_not_opened', { ports: tcp.join(', '), cause: String(cause) });
      }
    });
  }

  async #openPorts(held: Held, wanted: WantedPorts): Promise<void> {
    const { enter } = await this.#deps.place();
    const more = await openInNamespace(held.namespace, enter, wanted);
    if (this.#held.get(held.namespace.name) !== held) {
      closeListeners(more);
      return;
    }
    this.#reportFailed(more, held.namespace.name);
    for (const [port, handle] of more.tcp) held.listeners.tcp.set(port, handle);
    for (const [port, handle] of more.udp) held.listeners.udp.set(port, handle);
    for (const [port, why] of more.failed) held.listeners.failed.set(port, why);
    this.#egress.whenTold((link) => sendListeners(link, held, more));
  }

  #reportFailed({ failed }: OpenedListeners, namespace: string): void {
    for (const [port, why] of failed) this.#deps.logger.warn('network.port_not_opened', { namespace, port, why });
  }

  #receive(event: EgressEvent): void {
    switch (event.ev) {
      case 'connection':
        this.#deps.onEvent(event, this.#attribution.connection(event.fact));
        break;
      case 'closed':
        this.#deps.onEvent(event, this.#attribution.closed(event.traffic, event.why));
        break;
      case 'synced':
        for (const traffic of event.open) this.#attribution.traffic(traffic);
        if (event.id < OWN_SYNCS) this.#deps.onEvent(event, null);
        this.#syncs.resolve(event.id, undefined);
        break;
      case 'log':
        this.#deps.logger[event.level](`egress.${event.event}`, { said: JSON.stringify(event.fields) });
        break;
      case 'authority':
        this.#authorities.answered(event.scope, event.certificate);
        break;
      default:
        this.#deps.onEvent(event, null);
    }
  }

  /** Waits until every event of what has happened so far is here. */
  async sync(): Promise<void> {
    if (!this.#egress.isUp) return;
    // If the process ends, its events have ended too.
    const synced = this.#syncs.ask().catch(() => {});
    await within(SYNC_MAX_MS, synced, () => {});
  }

  #numberSyncs(lastId: number): Channel<void, void> {
    return new Channel((id) => this.#egress.send({ op: 'sync', id }), lastId);
  }

  #lost(): void {
    this.#attribution.cut(CUT);
    this.#authorities.lost();
    this.#syncs.close(new Error('the process that carries connections ended'));
    this.#syncs = this.#numberSyncs(this.#syncs.lastId);
  }
}

function sendListeners(link: EgressLink, { namespace, scope }: Held, { tcp, udp }: OpenedListeners): void {
  const send = (op: 'listener' | 'datagrams', port: number, handle: ListenerHandle): void =>
    link.send({ op, namespace: namespace.name, scope, port } satisfies BridgeCommand, handle.sendable);
  for (const [port, handle] of udp) send('datagrams', port, handle);
  for (const [port, handle] of tcp) send('listener', port, handle);
}

/** Nobody accepts any more: connections, also those that wait already, are refused at once. All ports are tried again later. */
function forgetListeners(listeners: OpenedListeners): void {
  closeListeners(listeners);
  listeners.tcp.clear();
  listeners.udp.clear();
  listeners.failed.clear();
}

/** The ports that rules name, besides those at which every program is met anyway. */
export function rulePortsOf({ rules }: ScopePolicy): number[] {
  const known: readonly number[] = [PROXY_PORT, ...DIRECT_PORTS];
  const ports = rules.flatMap(({ pattern, verdict }) => {
    const port = Number(/:(\d{1,5})$/.exec(pattern)?.[1]);
    return verdict === 'allow' && port > 0 && port <= 65_535 && !known.includes(port) ? [port] : [];
  });
  return [...new Set(ports)].slice(0, RULE_PORTS_MAX);
}
