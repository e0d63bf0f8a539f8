import { newShortId } from '../core/ids.ts';
import { inOrder, named, type Part, started, together } from '../core/lifecycle.ts';
import type { Arrival } from '../features/hand-over/arrival.ts';
import type { DepartureEnds } from '../features/hand-over/departure.ts';
import { spawnerChore } from '../features/hand-over/spawner-chore.ts';
import { leaseChore } from '../features/jobs/build-jobs.ts';
import { networkChores } from '../features/network/chores.ts';
import { followInstallation, removeUnusedBundles, warnOfBadLinks } from '../features/projects/registered-projects.ts';
import { branchChore, sessionChore } from '../features/sessions/session-end.ts';
import { collectMainHeap, createChores, generalChores } from '../features/shared/chores.ts';
import { storageChore } from '../features/storage/storage-life.ts';
import { undoChore } from '../features/undo/management.ts';
import { attemptReplacement } from '../proxy/start-lock.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { lastErrorBlock } from '../tokens/views/errors.ts';
import { interruptedCall, recordCall } from './build-execution.ts';
import type { SessionKeeping } from './build-remembering.ts';
import type { Scrubbing } from './build-scrubbing.ts';
import type { Stores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';
import type { DaemonParts } from './parts.ts';

/** The start order of the parts. They stop in reverse. */
export function startOrder(deps: ComposeDeps, parts: DaemonParts): Part[] {
  const { paths, config, clock, timer, logger, arrival } = deps;
  const { artifacts, catalog, counter, door, gate, projects, runner, sandbox, scanner, scrubber } = parts;
  const { dense, distiller, jobs, liveSessions, sessionEnd, sharing } = parts;
  const collectors = [collectMainHeap, () => scanner.collect()];
  const stores = storesPart(parts, arrival);
  const chores = createChores(
    [
      ...generalChores({ artifacts, eventLog: parts.eventLog, gate, collectors, door }),
      sessionChore(sessionEnd),
      leaseChore(jobs),
      branchChore(parts.branches),
      undoChore(parts),
      ...parts.headShipping.chores(),
      storageChore({ sandbox, liveSessions, upstreams: parts.upstreams, clock, config: config.sandbox }),
      ...networkChores({ ...parts, log: parts.networkLog, config: config.network, clock }),
      spawnerChore({ sandbox, gate, jobs, arrival, logger }),
    ],
    { timer, logger, pausable: parts.moves.chores },
  );
  const background = [
    ...(dense === null ? [] : [named('embedding', dense)]),
    named('sharing', sharing),
    named('weak outcomes', parts.weakOutcomes),
    named('distiller', distiller),
    parts.network,
    parts.auditor,
    chores,
  ];
  parts.departure.connect({
    background,
    flush: stores.flush,
    database: parts.database,
    keepStarts() {
      // A proxy that finds no daemon starts one, which would take the state in the middle.
      const attempt = attemptReplacement(paths.startLock, newShortId());
      return attempt.kind === 'held' ? () => attempt.lock.release() : null;
    },
    leaveDoors() {
      door.leave?.();
      parts.httpDoor.leave();
    },
    earlierGone: arrival?.gone ?? Promise.resolve(),
  });
  return [
    // The state database is the lock of the single daemon: until it is held, nothing may touch a file of the home.
    together([
      named('scrubber', scrubber),
      started('spawner', async () => {
        if (arrival?.adoptSpawner(sandbox) !== true) await sandbox.launch();
      }),
      warmUp(counter),
      inOrder([
        stores,
        together([named('catalog', catalog), named('sandbox', sandbox), started('door', () => door.prepare())]),
      ]),
    ]),
    started('acceptance', async () => {
      await followInstallation(catalog, projects, logger);
      await removeUnusedBundles(paths, parts, arrival?.bundles);
      await warnOfBadLinks(await projects.list(), paths.proxyBinary, logger);
    }),
    parts.settings,
    ...(dense === null ? [] : [named('embedding', dense)]),
    named('sharing', sharing),
    named('weak outcomes', parts.weakOutcomes),
    named('distiller', distiller),
    ...(parts.telemetry === null ? [] : [parts.telemetry]),
    parts.network,
    { name: 'client rules', async start() {}, stop: () => parts.judgeThread.stop() },
    named('runner', runner),
    jobs,
    parts.upstreams,
    parts.branches,
    parts.auditor,
    started('calls of the daemon before', async () => arrival?.adopt(parts)),
    chores,
    door,
    parts.httpDoor,
  ];
}

function storesPart(
  stores: Stores & SessionKeeping & Pick<Scrubbing, 'scrubber'>,
  arrival: Arrival | undefined,
): Part & Pick<DepartureEnds, 'flush'> {
  const { database, keys, consents, projects, liveSessions, artifacts, auditLog, journal, scrubber, outside } = stores;
  const { allowedValues, approvalRules, eventLog, hostNetworks, httpTokens, memoryStore, networkCredentials } = stores;
  const { upstreamMasks, upstreamServers } = stores;
  const flush = async (): Promise<void> => {
    await auditLog.stop();
    await artifacts.stop();
    await memoryStore.stop();
    await eventLog.stop();
  };
  return {
    name: 'stores',
    flush,
    async start() {
      await database.start();
      await Promise.all([keys.start(), consents.start(), auditLog.start()]);
      await Promise.all([projects.start(), liveSessions.start(), artifacts.start()]);
      await Promise.all([outside.start(), hostNetworks.start(), networkCredentials.start(), allowedValues.start()]);
      await httpTokens.start();
      await Promise.all([memoryStore.start(), eventLog.start(), approvalRules.start(), upstreamServers.start()]);
      upstreamMasks.start();
      // The log first: calls closed by the journal are never looked at again.
      const live = arrival?.live ?? [];
      const dead = (await journal.open()).filter(({ requestId }) => !live.includes(requestId));
      const ended = await auditLog.endInterrupted(dead, (text) => scrubber.maskText(text));
      for (const record of ended) await recordCall(interruptedCall(record), stores);
      auditLog.resume(live);
      await journal.start(live);
    },
    async stop() {
      await flush();
      await database.stop();
    },
  };
}

/** Compiles the code that makes answers while the search thread starts, so that the first call is not slower. */
function warmUp(counter: TokenCounter): Part {
  return started('answers', async () => {
    counter.count('error: one of each kind 123 ünï\n');
    lastErrorBlock('error: something failed\n', 100);
  });
}
