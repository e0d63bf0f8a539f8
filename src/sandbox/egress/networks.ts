import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../core/log.ts';
import type { EgressEvent } from '../../egress/messages.ts';
import type { IsolationReport } from '../contract/sandbox.ts';
import type { Host } from '../machine/host.ts';
import { Loopbacks } from '../machine/loopbacks.ts';
import { SECCOMP_LAYER } from '../probe/ladder.ts';
import type { NetworkUse } from './attribution.ts';
import { Bridge } from './bridge.ts';
import { EGRESS_PROGRAM, EgressProcess } from './egress-process.ts';

/** What the daemon learns of the network. */
export interface NetworkListener {
  /** `run`: the number of the command; null if it is not known whose the event is. */
  onEgress(event: EgressEvent, run: number | null): void;
  /** A proxy process has started and knows nothing: tell it everything, then `told` with the number. */
  onEgressReady(start: number): void;
}

/** Where a started sandbox is. */
export interface NetworkPlace {
  /** The name of the network namespace that it joined; '' if it has one of its own. */
  readonly loopback: string;
  /** The address at which it reaches the network by name; null if it has no network. */
  readonly lane: string | null;
  /** The certificate (PEM) that it trusts because a credential is bound; null: none. */
  readonly authority: string | null;
}

/** The namespaces of projects and tools, and what joins them to the network. */
export interface Networks {
  readonly loopbacks: Loopbacks;
  readonly bridge: Bridge;
  /** Settles when everything is open that the policies name which were told so far; `key`: of a namespace, or null. */
  settled(key: string | null): Promise<void>;
  /** What the network of a command does, until the signal aborts. The returned function waits for what is still to be reported. */
  watch(started: NetworkPlace, run: number, signal: AbortSignal): () => Promise<NetworkUse>;
  stop(): Promise<void>;
}

/** What the networks need of the machine; null without bubblewrap. */
interface NetworkMachine {
  host(): Promise<Host | null>;
  git(): Promise<{ enter(): Promise<readonly string[]> } | null>;
  ofMachine(): Promise<IsolationReport>;
}

export function createNetworks(
  machine: NetworkMachine,
  { config, logger }: { readonly config: Config['sandbox']; readonly logger: Logger },
  { onEgress, onEgressReady }: NetworkListener,
): Networks {
  const hostNow = async () => {
    const host = await machine.host();
    if (host === null) throw new Error('no bubblewrap');
    return host;
  };
  const bridge = new Bridge({
    async place() {
      const host = await hostNow();
      return { bubblewrap: host.bubblewrap.path, enter: (await (await machine.git())?.enter()) ?? [] };
    },
    async start(events) {
      const [host, { layers }] = [await hostNow(), await machine.ofMachine()];
      const isFiltered = layers.some(({ name, enforced }) => name === SECCOMP_LAYER && enforced);
      return new EgressProcess(host, EGRESS_PROGRAM, isFiltered, events);
    },
    onEvent: onEgress,
    onReady: onEgressReady,
    logger,
  });
  const loopbacks = new Loopbacks({
    make: (scope) => bridge.open(scope),
    close: (namespace) => bridge.close(namespace),
    idleMs: config.idle_ms,
    logger,
  });
  return {
    loopbacks,
    bridge,
    settled: async (key) => (key === null ? undefined : bridge.settled(loopbacks.nameOf(key))),
    watch({ loopback, lane }, run, signal) {
      if (lane === null) return async () => ({ connections: [], denied: [] });
      const { end, cancel } = bridge.begin({ namespace: loopback, lane, run });
      signal.addEventListener('abort', cancel, { once: true });
      return end;
    },
    async stop() {
      loopbacks.close();
      await bridge.stop();
    },
  };
}
