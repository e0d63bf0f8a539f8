import { within } from '../../core/deadline.ts';
import type { Logger } from '../../core/log.ts';
import type { InheritableSandbox } from '../../sandbox/contract/heritage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { CallGate } from '../shared/call-gate.ts';
import type { Chore } from '../shared/chores.ts';
import type { Arrival } from './arrival.ts';

const EVERY_MS = 30_000;
/** Milliseconds that calls wait for the spawner of before to end. Longer, and they go on with a new one meanwhile. */
const RENEW_MAX_MS = 10_000;

interface SpawnerChoreDeps {
  sandbox: Pick<InheritableSandbox, 'heritage'>;
  gate: Pick<CallGate, 'active' | 'hold'>;
  jobs: Pick<Jobs, 'running'>;
  arrival: Pick<Arrival, 'gone'> | undefined;
  logger: Pick<Logger, 'error'>;
}

/** Replaces the spawner of an earlier daemon, which may be of another version or have other settings, when nothing runs. */
export function spawnerChore({ sandbox, gate, jobs, arrival, logger }: SpawnerChoreDeps): Chore {
  let isEarlierGone = arrival === undefined;
  void arrival?.gone.then(() => {
    isEarlierGone = true;
  });
  return {
    name: 'replace the spawner',
    everyMs: EVERY_MS,
    async run() {
      const { heritage } = sandbox;
      if (heritage?.isInherited !== true || !isEarlierGone) return;
      if (gate.active() > 0 || jobs.running().length > 0 || heritage.isBusy || heritage.hasPrograms) return;
      const held = gate.hold();
      try {
        await within(RENEW_MAX_MS, heritage.renew(), () => logger.error('spawner.renewal_overdue'));
      } finally {
        held.goOn();
      }
    },
  };
}
