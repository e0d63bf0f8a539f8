import type { AuditLog } from '../audit/log.ts';
import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { NetworkCredentials } from '../features/network/credentials.ts';
import type { HostNetworks } from '../features/network/host-network.ts';
import { NetworkJournal } from '../features/network/journal.ts';
import { Network } from '../features/network/network.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { NetworkLog } from '../stores/network-log.ts';
import type { NetworkRules } from '../stores/network-rules.ts';

interface BuildNetworkDeps {
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

/** Builds the network, as people configured it, and its records. */
export function buildNetwork(deps: BuildNetworkDeps) {
  const { networkRules: rules, networkLog: log, networkCredentials: credentials, hostNetworks } = deps;
  const { scrubber, config, clock, logger } = deps;
  const networkJournal = new NetworkJournal({ ...deps, log, mask: (text: string) => scrubber.maskText(text) });
  const ofHost = {
    extraCa: (): readonly string[] => hostNetworks.settings().certificates,
    mirrorsOf: (group: string) => hostNetworks.hostsOf(group),
  };
  const network = new Network({
    rules,
    credentials,
    journal: networkJournal,
    config,
    ...ofHost,
    clock,
    logger,
  });
  credentials.onChange((scope) => network.credentialsChanged(scope));
  hostNetworks.onChange(() => network.certificatesChanged());
  return { network, networkJournal };
}
