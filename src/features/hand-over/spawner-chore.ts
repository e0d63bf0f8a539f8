import type { InheritableSandbox } from '../../sandbox/contract/heritage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { CallGate } from '../shared/call-gate.ts';
import type { Chore } from '../shared/chores.ts';
import type { Arrival } from './arrival.ts';

const EVERY_MS = 30_000;

interface SpawnerChoreDeps {
  sandbox: Pick<InheritableSandbox, 'heritage'>;
  gate: Pick<CallGate, 'active' | 'hold'>;
  jobs: Pick<Jobs, 'running'>;
  arrival: Pick<Arrival, 'gone'> | undefined;
}

/** Replaces the spawner of an earlier daemon, which may be of another version or have other settings, when nothing runs. */
export function spawnerChore({ sandbox, gate, jobs, arrival }: SpawnerChoreDeps): Chore {
  let isEarlierGone = arrival === undefined;
  void arrival?.gone.then(() => {
    isEarlierGone = true;
  });
  return {
    name: 'replace the spawner',
    everyMs: EVERY_MS,
    async run() {
      const { heritage } = sandbox;
      if (heritage?.isInherited !== true || !isEarlierGone || gate.active() > 0 || jobs.running().length > 0) return;
      const held = gate.hold();
      await heritage.renew();
      held.goOn();
    },
  };
}
