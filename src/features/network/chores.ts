import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { NetworkLog } from '../../stores/network-log.ts';
import type { Chore } from '../shared/chores.ts';
import type { Network } from './network.ts';

/** The proxy process refuses new connections of an expired rule by itself; this cuts the open ones. */
const EXPIRE_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 600_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export function networkChores(deps: {
  network: Pick<Network, 'expire'>;
  log: Pick<NetworkLog, 'prune'>;
  config: Config['network'];
  clock: Clock;
}): Chore[] {
  const { network, log, config, clock } = deps;
  const limits = { maxAgeMs: config.log_max_age_days * DAY_MS, maxRows: config.log_max_rows };
  return [
    { name: 'end network rules', everyMs: EXPIRE_EVERY_MS, run: () => network.expire() },
    { name: 'prune the network log', everyMs: PRUNE_EVERY_MS, run: () => log.prune(limits, clock.now()) },
  ];
}
