import { fileSources } from '../config/credential-source.ts';
import { buildAudit } from '../features/audit/build-audit.ts';
import { Moves } from '../features/hand-over/moves.ts';
import { memoryDatabase } from '../features/memory/memory-database.ts';
import { MemoryStore } from '../features/memory/store.ts';
import { NetworkCredentials, type NetworkCredentialsDeps } from '../features/network/credentials.ts';
import { createHostNetworks } from '../features/network/host-network.ts';
import { createOutside } from '../features/outside/outside.ts';
import { CallFigures } from '../features/shared/call-figures.ts';
import { LiveEvents } from '../features/shared/live-events.ts';
import { VariableMasks } from '../features/upstreams/variable-masks.ts';
import { createAllowedValues } from '../stores/allowed-values.ts';
import { createApprovalRules } from '../stores/approval-rules.ts';
import { createArtifactStore } from '../stores/artifacts.ts';
import { CallSeals } from '../stores/call-seals.ts';
import { createConsents } from '../stores/consents.ts';
import { createContinuations } from '../stores/continuations.ts';
import { createCredentialStore } from '../stores/credentials.ts';
import { createCursors } from '../stores/cursors.ts';
import { createHttpTokens } from '../stores/http-tokens.ts';
import { createJournal } from '../stores/journal.ts';
import { createDaemonKeys } from '../stores/keys.ts';
import { createLiveSessions } from '../stores/live-sessions.ts';
import { createNetworkLog } from '../stores/network-log.ts';
import { createNetworkRules } from '../stores/network-rules.ts';
import { createProjectStore } from '../stores/projects.ts';
import { SecretNumbers } from '../stores/secret-numbers.ts';
import { createSessionStore } from '../stores/sessions.ts';
import { createDatabase, type Database } from '../stores/sqlite.ts';
import { STATE_MIGRATIONS } from '../stores/state-migrations.ts';
import { createToolChoices } from '../stores/tool-choices.ts';
import { createToolVersions } from '../stores/tool-versions.ts';
import { createUpstreamServerStore } from '../stores/upstream-servers.ts';
import type { ComposeDeps } from './compose-deps.ts';

export type Stores = ReturnType<typeof buildStores>;

/** Builds the stores on disk. */
export function buildStores(deps: ComposeDeps) {
  const { environment, paths, config, clock, logger, requestStop } = deps;
  const moves = new Moves();
  const ownDatabase = createDatabase({
    file: paths.stateDb,
    migrations: STATE_MIGRATIONS,
    logger,
    onFailure: () => requestStop(0, 'failure'),
  });
  const database = moves.database.object('database', ownDatabase, ['read', 'write']);
  const keys = createDaemonKeys({ database });
  const consents = createConsents({ database, clock });
  const hostNetworks = createHostNetworks({ database, clock });
  const projects = createProjectStore({ database, consents, clock, contextdHome: environment.contextdHome ?? null });
  const { artifactsDir: dir, auditDir } = paths;
  const liveEvents = new LiveEvents();
  const callFigures = new CallFigures();
  const upstreamServers = createUpstreamServerStore({ database });
  const sessions = createSessionStore({ database, keys, clock });
  const memory = memoryDatabase({ file: paths.memoryDb, logger });
  return {
    outside: createOutside({ database, consents, projects, path: environment.path, hostNetworks, clock }),
    hostNetworks,
    moves,
    database,
    keys,
    consents,
    projects,
    sessions,
    cursors: createCursors(sessions),
    continuations: createContinuations({ database, keys, clock }),
    liveEvents,
    callFigures,
    httpTokens: createHttpTokens({ database, clock }),
    liveSessions: createLiveSessions({
      database,
      clock,
      logger,
      onChange: (change, session) => liveEvents.session(change, session),
    }),
    journal: createJournal({ database, clock }),
    callSeals: new CallSeals(keys),
    networkRules: createNetworkRules({ database, clock }),
    networkCredentials: credentialsOf(deps, database, projects),
    networkLog: createNetworkLog({ database, onRows: (rows) => liveEvents.connections(rows) }),
    toolChoices: createToolChoices({ database }),
    toolVersions: createToolVersions({ database }),
    allowedValues: createAllowedValues({ database, clock }),
    secretNumbers: new SecretNumbers({ database, keys, clock, logger, maxAgeDays: config.session.log_max_age_days }),
    approvalRules: createApprovalRules({ database, clock }),
    upstreamServers,
    upstreamMasks: new VariableMasks(upstreamServers),
    artifacts: createArtifactStore({ database, keys, dir, limits: config.artifacts, clock, logger }),
    ...buildAudit({
      dir: auditDir,
      config: config.audit,
      environment: fileSources(environment),
      clock,
      logger,
      onRecord(record) {
        callFigures.record(record);
        liveEvents.record(record);
      },
    }),
    memoryDatabase: memory,
    memoryStore: new MemoryStore({ database: memory, logger }),
  };
}

function credentialsOf(
  { environment, clock, logger }: ComposeDeps,
  database: Database,
  projects: NetworkCredentialsDeps['projects'],
): NetworkCredentials {
  const store = createCredentialStore({ database });
  return new NetworkCredentials({ store, projects, environment: fileSources(environment), clock, logger });
}
