import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { NetworkLog } from '../stores/network-log.ts';
import type { NetworkRules } from '../stores/network-rules.ts';
import type { HostNetworks } from './host-network.ts';
import { Network, type NetworkDeps } from './network.ts';
import type { NetworkCredentials } from './network-credentials.ts';
import { NetworkJournal } from './network-journal.ts';

interface NetworkParts {
  network: Network;
  networkJournal: NetworkJournal;
}

export interface BuildNetworkDeps {
  networkRules: NetworkRules;
  networkCredentials: NetworkCredentials;
  hostNetworks: Pick<HostNetworks, 'settings' | 'hostsOf' | 'onChange'>;
  networkLog: NetworkLog;
  auditLog: AuditLog;
  liveSessions: LiveSessions;
  scrubber: Pick<Scrubber, 'maskText'>;
  config: Config['network'];
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** The network as people decided it, and its records. */
export function buildNetwork(
  deps: BuildNetworkDeps,
  others: Pick<NetworkDeps, 'tell' | 'onRefused'>,
  own: Partial<NetworkParts>,
): NetworkParts {
  const { networkRules: rules, networkLog: log, networkCredentials: credentials, hostNetworks } = deps;
  const { scrubber, config, clock, logger } = deps;
  const journal =
    own.networkJournal ?? new NetworkJournal({ ...deps, log, mask: (text: string) => scrubber.maskText(text) });
  const ofHost = {
    extraCa: (): readonly string[] => hostNetworks.settings().certificates,
    mirrorsOf: (group: string) => hostNetworks.hostsOf(group),
  };
  const network =
    own.network ?? new Network({ rules, credentials, journal, config, ...ofHost, clock, logger, ...others });
  credentials.onChange((scope) => network.credentialsChanged(scope));
  hostNetworks.onChange(() => network.certificatesChanged());
  return { network, networkJournal: journal };
}
