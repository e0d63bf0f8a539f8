import { fileSources } from '../config/credential-source.ts';
import { Contexts } from '../features/compile/contexts.ts';
import type { NewEvent } from '../features/events/event.ts';
import { eventDatabase } from '../features/events/event-database.ts';
import { StoredEventLog } from '../features/events/event-log.ts';
import { buildDistiller } from '../features/memory/build-distiller.ts';
import { createDense } from '../features/memory/embedding.ts';
import { Memories } from '../features/memory/memories.ts';
import { Retrievals } from '../features/memory/retrievals.ts';
import { Sharing } from '../features/memory/sharing.ts';
import { WeakOutcomes } from '../features/memory/weak-outcomes.ts';
import { loadCounter } from '../tokens/counter.ts';
import type { Scrubbing } from './build-scrubbing.ts';
import type { Stores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';

export type Remembering = ReturnType<typeof buildRemembering>;

/** Builds the store of lessons from earlier work, and their exchange with other machines. */
export function buildRemembering(deps: ComposeDeps, before: Stores & Scrubbing) {
  const { environment, paths, config, clock, timer, logger } = deps;
  const { memoryDatabase: database, memoryStore: store, scrubber } = before;
  const source = fileSources(environment);
  const common = { database, environment: source, scrubber, clock, timer, logger };
  const dense = createDense({ ...common, config: config.memory.embedding, installRoot: paths.installRoot });
  const sharing = new Sharing({ ...common, config: config.memory.qdrant, dense });
  const memories = new Memories({ store, clock, shared: sharing.syncer, dense });
  const distillerParts = { ...before, ...common, config: config.memory.distill, memories };
  const retrievals = new Retrievals({ database, share: config.memory.holdout, clock, logger });
  return {
    dense,
    sharing,
    memories,
    distiller: buildDistiller(distillerParts),
    retrievals,
    weakOutcomes: new WeakOutcomes({ memories, retrievals, logger }),
  };
}

export type SessionKeeping = ReturnType<typeof buildSessionKeeping>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Builds the record of events in sessions. */
export function buildSessionKeeping(
  { paths, config, clock, logger }: ComposeDeps,
  { weakOutcomes }: Pick<Remembering, 'weakOutcomes'>,
) {
  const counter = loadCounter();
  const countTokens = (text: string): number => counter.count(text);
  const database = eventDatabase({ file: paths.sessionDb, logger });
  const { log_max_age_days, log_max_events: maxEvents } = config.session;
  const limits = { maxAgeMs: log_max_age_days * DAY_MS, maxEvents };
  const onEvent = (event: NewEvent): void => weakOutcomes.observe(event);
  const eventLog = new StoredEventLog({ database, countTokens, limits, onEvent, clock, logger });
  return {
    counter,
    eventLog,
    sessionDatabase: database,
    contexts: new Contexts({ database, eventLog, countTokens, clock, logger }),
  };
}
