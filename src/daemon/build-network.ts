import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { NetworkLog } from '../stores/network-log.ts';
import type { NetworkRules } from '../stores/network-rules.ts';
import { Network, type NetworkDeps } from './network.ts';
import { NetworkJournal } from './network-journal.ts';

interface NetworkParts {
  network: Network;
  networkJournal: NetworkJournal;
}

export interface BuildNetworkDeps {
  networkRules: NetworkRules;
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
  const { networkRules: rules, networkLog: log, scrubber, config, clock, logger } = deps;
  const journal =
    own.networkJournal ?? new NetworkJournal({ ...deps, log, mask: (text: string) => scrubber.maskText(text) });
  const network = own.network ?? new Network({ rules, journal, config, clock, logger, ...others });
  return { network, networkJournal: journal };
}
