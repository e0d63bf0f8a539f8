import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { ensureVacant, type ProbeDeps } from '../server/probe.ts';

export interface SingleInstanceDeps {
  probe: ProbeDeps;
  clock: Clock;
  logger: Logger;
}

/** What a daemon that is stopping, its door closed already, may take to let go of the state database, milliseconds. */
const HANDOVER_MS = 8_000;
const RETRY_MS = 50;

/**
 * Starts by `attempt`, which throws CONFLICT while another holds the state database. When that other one answers on
 * the socket, it is named in the error. When nobody does, it is about to end or still starting: then we wait for it.
 */
export async function startAlone<T>(attempt: () => Promise<T>, deps: SingleInstanceDeps): Promise<T> {
  const until = deps.clock.monotonic() + HANDOVER_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof ContextdError) || thrown.code !== 'CONFLICT') throw thrown;
      await ensureVacant(deps.probe);
      if (deps.clock.monotonic() >= until) throw thrown;
      if (tries === 1) deps.logger.info('daemon.waiting_for_another_to_end');
      await delay(RETRY_MS);
    }
  }
}
