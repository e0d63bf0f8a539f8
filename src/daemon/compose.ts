import type { SessionRef } from '../call/session.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { createCoreSource } from '../catalog/core-source.ts';
import { createInstalledSource } from '../catalog/installed-source.ts';
import { secretsIn } from '../config/env.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import { createRefuse } from '../dispatch/refuse.ts';
import { createSlots } from '../dispatch/slots.ts';
import { createViewMaker } from '../dispatch/view/run-view.ts';
import type { EndedJob, Jobs } from '../jobs/jobs.ts';
import { Memories } from '../memory/memories.ts';
import { memoryDatabase } from '../memory/memory-database.ts';
import { Retrievals } from '../memory/retrievals.ts';
import { MemoryStore } from '../memory/store.ts';
import { createRunner } from '../runner/create-runner.ts';
import { createSandbox } from '../sandbox/create-sandbox.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { baseView, type SandboxPolicy, type WorkspaceView } from '../sandbox/sandbox-policy.ts';
import { createEngine, deferEngine } from '../scrub/hardened/engine.ts';
import { readRuleSources } from '../scrub/rule-sources.ts';
import { createScanner, type Scanner } from '../scrub/scan/scanner.ts';
import { createScrubber } from '../scrub/scrubber.ts';
import { Allowance } from '../scrub/vault/allowance.ts';
import { createSeeds, type Seeds } from '../scrub/vault/seeds.ts';
import { createWorkspaceRules } from '../scrub/workspace-rules.ts';
import { createGrpcDoor } from '../server/grpc.ts';
import { holdFiles } from '../session/branches/branch-runner.ts';
import { BranchStore } from '../session/branches/branch-store.ts';
import { Branches } from '../session/branches/branches.ts';
import { BranchFiles } from '../session/branches/files/branch-files.ts';
import { Contexts } from '../session/compile/contexts.ts';
import { callEvent, type RecordedCall } from '../session/events/call-event.ts';
import { eventDatabase } from '../session/events/event-database.ts';
import { StoredEventLog } from '../session/events/event-log.ts';
import { Undo } from '../session/undo/undo.ts';
import { UndoRecords } from '../session/undo/undo-records.ts';
import { watchFiles } from '../session/undo/watched-runner.ts';
import { createAllowedValues } from '../stores/allowed-values.ts';
import { createArtifactStore } from '../stores/artifacts.ts';
import { createAuditLog } from '../stores/audit.ts';
import { createConsents } from '../stores/consents.ts';
import { createContinuations } from '../stores/continuations.ts';
import { createCredentialStore } from '../stores/credentials.ts';
import { createCursors } from '../stores/cursors.ts';
import { createJournal } from '../stores/journal.ts';
import { createDaemonKeys } from '../stores/keys.ts';
import { createLiveSessions } from '../stores/live-sessions.ts';
import { createNetworkLog } from '../stores/network-log.ts';
import { createNetworkRules } from '../stores/network-rules.ts';
import { createProjectStore } from '../stores/projects.ts';
import { createSessionStore } from '../stores/sessions.ts';
import { createDatabase, type Database } from '../stores/sqlite.ts';
import { STATE_MIGRATIONS } from '../stores/state-migrations.ts';
import { createToolVersions } from '../stores/tool-versions.ts';
import { loadCounter } from '../tokens/counter.ts';
import { buildCheckpoints } from './build-checkpoints.ts';
import { buildDistiller } from './build-distiller.ts';
import { buildJobs, lineFinder } from './build-jobs.ts';
import { buildNetwork } from './build-network.ts';
import { createCallGate } from './call-gate.ts';
import { createDense } from './embedding.ts';
import { checkHealth } from './health.ts';
import { createHostNetworks } from './host-network.ts';
import { createHostServices } from './host-services.ts';
import type { Composition } from './lifecycle.ts';
import { createManagement } from './management.ts';
import { NetworkCredentials, type NetworkCredentialsDeps } from './network-credentials.ts';
import { followRuns } from './network-runs.ts';
import { createOutside } from './outside.ts';
import type {
  ComposeDeps,
  DaemonParts,
  Entrance,
  Execution,
  Remembering,
  Scrubbing,
  SessionKeeping,
  Stores,
} from './parts.ts';
import { commandPolicyFor, policyFor, toolAccessFor, toolNetworkFor } from './policy.ts';
import { installedHashes } from './registered-projects.ts';
import { createSessionEnd, type SessionStateHolder } from './session-end.ts';
import { Sharing } from './sharing.ts';
import { createStandingAuditor } from './standing-auditor.ts';
import { startOrder } from './start-order.ts';
import { storageHolder } from './storage-life.ts';

/** Parts to use instead of the daemon's own. Every other part is built on them. */
type Overrides = Partial<DaemonParts>;

export interface DaemonComposition extends Composition {
  built: DaemonParts;
}

/** Builds every part of the daemon once, each on those before it. The only file that sees all of them. */
export function compose(deps: ComposeDeps, overrides: Overrides = {}): DaemonComposition {
  const stores = buildStores(deps, overrides);
  const scrubbing = buildScrubbing(deps, stores, overrides);
  const remembering = buildRemembering(deps, { ...stores, ...scrubbing }, overrides);
  const keeping = buildSessionKeeping(deps, overrides);
  const known = { ...stores, ...scrubbing, ...remembering, ...keeping };
  const execution = buildExecution(deps, known, overrides);
  const entrance = buildEntrance(deps, { ...known, ...execution }, overrides);
  const built = { ...known, ...execution, ...entrance };
  const { scrubber, gate } = built;
  return {
    built,
    parts: startOrder(deps, built),
    drain: (graceMs, cause) => gate.drain(graceMs, cause),
    mask: (text) => scrubber.maskText(text),
    maskLater: (texts) => scrubber.maskTexts(texts),
  };
}

function buildStores(deps: ComposeDeps, own: Overrides): Stores {
  const { environment, paths, config, clock, logger, requestStop } = deps;
  const database =
    own.database ??
    createDatabase({
      file: paths.stateDb,
      migrations: STATE_MIGRATIONS,
      logger,
      onFailure: () => requestStop(0, 'failure'),
    });
  const keys = own.keys ?? createDaemonKeys({ database });
  const consents = own.consents ?? createConsents({ database, clock });
  const hostNetworks = own.hostNetworks ?? createHostNetworks({ database, clock });
  const projects = own.projects ?? createProjectStore({ database, consents, clock });
  const { artifactsDir: dir, auditDir } = paths;
  const ownMemoryDatabase = own.memoryDatabase ?? memoryDatabase({ file: paths.memoryDb, logger });
  const memoryStore = own.memoryStore ?? new MemoryStore({ database: ownMemoryDatabase, logger });
  return {
    outside: own.outside ?? createOutside({ database, consents, path: environment.path, hostNetworks, clock }),
    hostNetworks,
    database,
    keys,
    consents,
    projects,
    sessions: own.sessions ?? createSessionStore({ database, keys, clock }),
    liveSessions: own.liveSessions ?? createLiveSessions({ database, clock, logger }),
    journal: own.journal ?? createJournal({ database, clock }),
    networkRules: own.networkRules ?? createNetworkRules({ database, clock }),
    networkCredentials: own.networkCredentials ?? credentialsOf(deps, database, projects),
    networkLog: own.networkLog ?? createNetworkLog({ database }),
    toolVersions: own.toolVersions ?? createToolVersions({ database }),
    allowedValues: own.allowedValues ?? createAllowedValues({ database, clock }),
    artifacts: own.artifacts ?? createArtifactStore({ database, keys, dir, limits: config.artifacts, clock, logger }),
    auditLog: own.auditLog ?? createAuditLog({ dir: auditDir, clock, logger }),
    memoryDatabase: ownMemoryDatabase,
    memoryStore,
  };
}

function buildScrubbing(deps: ComposeDeps, stores: Stores, own: Overrides): Scrubbing {
  const { environment, paths, config, clock, timer, logger } = deps;
  const { consents, sessions, artifacts, auditLog } = stores;
  const places = { gitleaksDir: paths.gitleaksDir, searchPath: environment.path };
  const rootOf = async (session: SessionRef): Promise<string | null> =>
    (await stores.projects.find(session.project))?.root ?? null;
  const workspaceRules =
    own.workspaceRules ??
    createWorkspaceRules({
      isApproved: (root, sha256) => consents.has(root, 'rules', sha256),
      onFault: (project, problem) => logger.warn('scrub.workspace_rules_invalid', { project, problem }),
    });
  const scanner =
    own.scanner ?? createScanner({ config: config.scrub, logger, readRules: async () => readRuleSources() });
  const ownSeeds = config.scrub.seeds ? seedsOf(deps, rootOf, scanner) : null;
  const seeds = own.seeds === undefined ? ownSeeds : own.seeds;
  const scrubber =
    own.scrubber ??
    createScrubber({
      scanner,
      engine: maskEngine(),
      numbers: sessions,
      workspaceRules: async (session) => {
        const root = await rootOf(session);
        return root === null ? null : workspaceRules.read(root);
      },
      seeds: stores.networkCredentials.withSeeds(seeds),
      allowed: ({ project }) => {
        const forms = stores.allowedValues.formsFor(project);
        return forms === null ? null : new Allowance(stores.keys.derive('allowed'), forms);
      },
      logger,
      clock,
    });
  const use = config.scrub.gitleaks;
  const auditor =
    own.auditor ?? createStandingAuditor({ use, places, paths, scrubber, artifacts, auditLog, clock, timer, logger });
  return { workspaceRules, seeds, scanner, scrubber, auditor };
}

function buildRemembering(deps: ComposeDeps, before: Stores & Scrubbing, own: Overrides): Remembering {
  const { environment, paths, config, clock, timer, logger } = deps;
  const { memoryDatabase: database, memoryStore: store, scrubber } = before;
  const { installRoot } = paths;
  const source = { path: environment.path, home: environment.home, variable: () => undefined };
  const common = { database, environment: source, scrubber, clock, timer, logger };
  const ownDense = createDense({ ...common, config: config.memory.embedding, installRoot });
  const dense = own.dense === undefined ? ownDense : own.dense;
  const sharing = own.sharing ?? new Sharing({ ...common, config: config.memory.qdrant, dense });
  const memories = own.memories ?? new Memories({ store, clock, shared: sharing.syncer, dense });
  const distillerParts = { ...before, ...common, config: config.memory.distill, memories };
  return {
    dense,
    sharing,
    memories,
    distiller: own.distiller ?? buildDistiller(distillerParts),
    retrievals: own.retrievals ?? new Retrievals({ database, share: config.memory.holdout, clock, logger }),
  };
}

function buildSessionKeeping({ paths, config, clock, logger }: ComposeDeps, own: Overrides): SessionKeeping {
  const counter = own.counter ?? loadCounter();
  const countTokens = (text: string): number => counter.count(text);
  const database = eventDatabase({ file: paths.sessionDb, logger });
  const { log_max_age_days, log_max_events: maxEvents } = config.session;
  const limits = { maxAgeMs: log_max_age_days * DAY_MS, maxEvents };
  const eventLog = own.eventLog ?? new StoredEventLog({ database, countTokens, limits, clock, logger });
  return {
    counter,
    eventLog,
    contexts: own.contexts ?? new Contexts({ database, eventLog, countTokens, clock, logger }),
  };
}

/** The workspace as calls of a session see it. Throws CONFLICT if the files of its branch are closed. */
function viewOf(session: SessionRef, branches: Pick<Branches, 'layersOf'>): WorkspaceView {
  return { path: session.project, layer: branches.layersOf(session) };
}

const DAY_MS = 24 * 60 * 60 * 1000;

function buildExecution(
  deps: ComposeDeps,
  before: Stores & Scrubbing & Remembering & SessionKeeping,
  own: Overrides,
): Execution {
  const { paths, config, clock, timer, logger } = deps;
  const { artifacts, scrubber, auditor: secondSearch } = before;
  // The network and the sandbox report to each other; nothing of either happens before both are built.
  const { network, networkJournal } = buildNetwork(
    { ...before, config: config.network, clock, timer, logger },
    {
      tell: (command) => sandbox.tellEgress(command),
      onRefused: ({ requestId }, denial) => jobs.refused(requestId, denial),
    },
    own,
  );
  const sandbox: Sandbox =
    own.sandbox ??
    createSandbox({
      ...{ paths, config: config.sandbox, logger, clock },
      onEgress: (event, run) => network.onEgress(event, run),
    });
  const followed = followRuns(sandbox, network);
  const jobs: Jobs =
    own.jobs ??
    buildJobs({
      ...{ ...before, secondSearch, sandbox: followed, config, clock, logger },
      onJobEnded: (job) => void recordCall(callOfJob(job), before),
    });
  const undo =
    own.undo ??
    new Undo({
      ...{ sandbox, records: new UndoRecords(paths.undoDir), config: config.undo, clock, logger },
      policyFor: (root) => policyFor(baseView(root), config.sandbox),
    });
  const branchStore = new BranchStore(before.database);
  const branchFiles =
    own.branchFiles ??
    new BranchFiles({
      ...{ sandbox, undo, store: branchStore, layersDir: paths.layersDir, logger },
      policyFor: (view) => policyFor(view, config.sandbox),
    });
  const branches =
    own.branches ??
    new Branches({
      ...{ store: branchStore, events: before.eventLog, files: branchFiles, clock },
      stopJobs: (session) => jobs.endBranch(session),
    });
  const views = own.views ?? createViewMaker();
  const accepted = (): Promise<ReadonlySet<string>> => installedHashes(before.projects);
  const installed = own.installed ?? createInstalledSource({ toolsDir: paths.toolsDir, accepted, logger });
  const coreSource = createCoreSource({ bundleDir: paths.coreBundleDir, toolsDir: paths.toolsDir });
  const catalog = own.catalog ?? createCatalog([coreSource, installed]);
  const checkpoints =
    own.checkpoints ?? buildCheckpoints({ ...before, undo, branches, catalog, config, clock, logger });
  return {
    checkpoints,
    network,
    networkJournal,
    jobs,
    branches,
    branchFiles,
    views,
    installed,
    catalog,
    sandbox,
    undo,
    runner:
      own.runner ??
      createRunner({
        sandbox: followed,
        policyFor: (session) => policyFor(viewOf(session, branches), config.sandbox),
        commandPolicyFor: (session) =>
          commandPolicyFor(session, viewOf(session, branches), config.sandbox, before.outside, network),
        toolNetworkFor: (call) => toolNetworkFor(call, before.outside, network),
        toolAccessFor: ({ grants }) => toolAccessFor(grants, config.tools),
        sdkDir: paths.sdkDir,
        privateSocketsDir: paths.dialledSocketsDir,
        config: { idleMs: config.sandbox.idle_ms },
        scrub: async (session, texts) => (await scrubber.scrub(session, [...texts])).value,
        services: createHostServices({
          ...{ artifacts, scrubber, jobs, findLine: lineFinder(views), clock },
          ...{ memories: before.memories, retrievals: before.retrievals, branches, checkpoints },
          learn: (work) => before.distiller.distill(work),
          ...{ eventLog: before.eventLog, contexts: before.contexts },
          countTokens: (text) => before.counter.count(text),
        }),
        logger,
        clock,
      }),
  };
}

function buildEntrance(
  deps: ComposeDeps,
  before: Stores & Scrubbing & Remembering & SessionKeeping & Execution,
  own: Overrides,
): Entrance {
  const { paths, config, clock, logger } = deps;
  const { database, keys, sessions, scrubber, auditor: secondSearch } = before;
  const refuse = createRefuse({ ...before, clock, logger });
  const view = (session: SessionRef): WorkspaceView => viewOf(session, before.branches);
  const watched = config.undo.enabled ? watchFiles(before.runner, before.undo, view) : before.runner;
  const gate =
    own.gate ??
    createCallGate(
      createDispatch({
        ...before,
        runner: holdFiles(watched, before.branches),
        secondSearch,
        cursors: createCursors(sessions),
        findings: before.jobs.findings,
        onCallEnded: (call) => void recordCall(call, before),
        continuations: createContinuations({ database, keys, clock }),
        limits: config,
        config,
        slots: createSlots(config.server.max_concurrent_calls),
        clock,
        logger,
      }),
      refuse,
      clock,
    );
  const sessionEnd = createSessionEnd({ ...before, holders: holdersOf(before), logger });
  const management = managementOf(deps, { ...before, gate, sessionEnd });
  const mask = (text: string): string => scrubber.maskText(text);
  const door = own.door ?? createGrpcDoor({ paths, dispatch: gate.dispatch, refuse, management, mask, clock, logger });
  return { gate, door, sessionEnd };
}

/** Callers may name any directory: only calls of a registered project are kept. */
async function recordCall(call: RecordedCall, { projects, eventLog }: Stores & SessionKeeping): Promise<void> {
  if ((await projects.find(call.session.project)) !== null) eventLog.append(callEvent(call));
}

function callOfJob({ session, record, endedByItself, endedMs, text, artifact }: EndedJob): RecordedCall {
  const said = { texts: [text], data: {}, shows: null };
  return { ...said, session, record, hasRun: true, wasEnded: !endedByItself, endedMs, artifact };
}

/** What keeps state for a session, in the order in which it ends. */
function holdersOf({ branches, jobs, scrubber, sandbox }: Scrubbing & Execution): SessionStateHolder[] {
  const secrets = { name: 'secrets', endSession: async (session: SessionRef) => scrubber.forget(session) };
  return [branches, jobs, secrets, storageHolder(sandbox)];
}

function managementOf(deps: ComposeDeps, parts: Omit<DaemonParts, 'door'>): ReturnType<typeof createManagement> {
  const { environment, paths, config, clock, logger, requestStop } = deps;
  const { installRoot } = paths;
  const rootPolicy = (root: string): SandboxPolicy => ({
    ...policyFor(baseView(root), config.sandbox),
    allowedPaths: parts.outside.pathsOf(root),
  });
  return createManagement({
    ...parts,
    home: environment.home,
    paths,
    approvals: { ...parts, policyFor: rootPolicy },
    networking: { ...parts, rules: parts.networkRules, log: parts.networkLog, journal: parts.networkJournal, clock },
    credentials: { ...parts, credentials: parts.networkCredentials, clock },
    installation: { ...parts, paths, config: config.install, environment, clock },
    memory: { ...parts, clock },
    sessionKeeping: parts,
    undoing: { ...parts, events: parts.eventLog, clock },
    ports: { ...parts, policyFor: rootPolicy, privateSocketsDir: paths.dialledSocketsDir, logger },
    clock,
    checkHealth: (projectRoot) => checkHealth(projectRoot, { ...parts, config, installRoot, clock }),
    requestStop: (graceMs, cause) => requestStop(graceMs === 0 ? config.server.drain_ms : graceMs, cause),
  });
}

function credentialsOf(
  { environment, clock, logger }: ComposeDeps,
  database: Database,
  projects: NetworkCredentialsDeps['projects'],
): NetworkCredentials {
  // A variable of the person's shell is not among the daemon's.
  const source = { path: environment.path, home: environment.home, variable: () => undefined };
  const store = createCredentialStore({ database });
  return new NetworkCredentials({ store, projects, environment: source, clock, logger });
}

/** Reads the files of a project for its own sessions only, and only once a person registered it. */
function seedsOf(
  { environment, config, clock, logger }: ComposeDeps,
  projectOf: (session: SessionRef) => Promise<string | null>,
  scanner: Scanner,
): Seeds {
  const { home, secretVariables } = environment;
  const variables = [...secretVariables, ...secretsIn(config.tools.env)];
  const envValues = (texts: readonly string[]): Promise<string[][]> => scanner.envValues(texts);
  return createSeeds({ home, variables, projectOf, envValues, clock, logger });
}

/** For log lines and refusals. Rarely used, so its rules are read and compiled at the first use. */
function maskEngine(): ReturnType<typeof deferEngine> {
  return deferEngine(() => {
    const { pack, official } = readRuleSources();
    return createEngine(pack, { compile: 'when used', official });
  });
}
