import { type AuditRecord, hasWaited } from '../audit/record.ts';
import type { SessionRef } from '../call/session.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { createCoreSource } from '../catalog/core-source.ts';
import { createInstalledSource } from '../catalog/installed-source.ts';
import { ToolAccess } from '../catalog/tool-access.ts';
import { CallRates } from '../dispatch/call-rates.ts';
import { CarriedCalls } from '../dispatch/carried-call.ts';
import { createViewMaker } from '../dispatch/view/run-view.ts';
import { BranchStore } from '../features/branches/branch-store.ts';
import { Branches } from '../features/branches/branches.ts';
import { BranchFiles } from '../features/branches/files/branch-files.ts';
import { buildCheckpoints } from '../features/checkpoints/build-checkpoints.ts';
import { callEvent } from '../features/events/call-event.ts';
import { type KeepingCall, type KeptPart, keepPart } from '../features/execution/keep-part.ts';
import { createServerBackend } from '../features/execution/server-backend.ts';
import { RelocatedUndo } from '../features/hand-over/relocated-parts.ts';
import { relocatedServices } from '../features/hand-over/relocated-services.ts';
import { createHostServices } from '../features/host/host-services.ts';
import { buildJobs, lineFinder } from '../features/jobs/build-jobs.ts';
import type { EndedJob } from '../features/jobs/jobs.ts';
import { followRuns } from '../features/network/runs.ts';
import { commandPolicyFor, policyFor, toolAccessFor, toolNetworkFor } from '../features/outside/policy.ts';
import { stillAllowed } from '../features/outside/still-allowed.ts';
import { PrimitiveCatalogues } from '../features/primitives/primitive-catalogues.ts';
import { createPrimitiveVerbs } from '../features/primitives/primitive-verbs.ts';
import { installedHashes } from '../features/projects/registered-projects.ts';
import { createExecutables } from '../features/routing/executables.ts';
import { ToolCatalogues } from '../features/routing/tool-catalogues.ts';
import { ToolHabits } from '../features/routing/tool-habits.ts';
import { ToolMeanings } from '../features/routing/tool-meanings.ts';
import { createToolVerbs } from '../features/routing/tool-verbs.ts';
import { CallMarks } from '../features/undo/call-marks.ts';
import { Undo } from '../features/undo/undo.ts';
import { UndoRecords } from '../features/undo/undo-records.ts';
import { PassedRequests } from '../features/upstreams/passed-requests.ts';
import { Upstreams } from '../features/upstreams/upstreams.ts';
import { runByKind } from '../runner/backends.ts';
import { createRunner } from '../runner/create-runner.ts';
import { createHostBackend } from '../runner/host-backend.ts';
import { createSandbox } from '../sandbox/client/create-sandbox.ts';
import { baseView, type WorkspaceView } from '../sandbox/contract/policy.ts';
import { handedIn } from '../scrub/vault/look-alike.ts';
import type { RecordedCall } from '../stores/recorded-call.ts';
import { buildNetwork } from './build-network.ts';
import type { Remembering, SessionKeeping } from './build-remembering.ts';
import type { Scrubbing } from './build-scrubbing.ts';
import type { Stores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';

export type Execution = ReturnType<typeof buildExecution>;

/** Builds the execution of calls: the network and the sandbox, the handling of their leftovers, and the tools. */
export function buildExecution(deps: ComposeDeps, before: Stores & Scrubbing & Remembering & SessionKeeping) {
  const { paths, config, clock, timer, logger } = deps;
  const { artifacts, scrubber, auditor: secondSearch } = before;
  const { network, networkJournal } = buildNetwork({ ...before, config: config.network, clock, timer, logger });
  const sandbox = createSandbox({
    paths,
    config: config.sandbox,
    logger,
    clock,
    onEgress: (event, run) => network.onEgress(event, run),
    onSandboxTaken: (wait) => before.callFigures.sandboxTaken(wait),
    stillAllowed: (policy) => stillAllowed(policy, { ...before, branches, network }),
  });
  const followed = followRuns(sandbox, network);
  const { moves } = before;
  const { works } = moves;
  const moving = {
    scrubber: works.object('scrubber', scrubber, ['scrub', 'scrubAgain']),
    secondSearch: works.object('second search', secondSearch, ['missedIn']),
    auditLog: works.object('audit log', before.auditLog, ['append', 'begin', 'end']),
  };
  const jobs = buildJobs({
    ...before,
    secondSearch,
    sandbox: followed,
    config,
    clock,
    logger,
    onJobEnded: (job) => void recordCall(callOfJob(job), before),
  });
  network.connect({
    tell: (command) => sandbox.tellEgress(command),
    onRefused: ({ requestId }, denial) => jobs.refused(requestId, denial),
  });
  const undo = new Undo({
    sandbox,
    records: new UndoRecords(paths.undoDir),
    marks: new CallMarks(paths.undoDir),
    config: config.undo,
    clock,
    logger,
    policyFor: (root) => policyFor(baseView(root), config.sandbox),
  });
  const branchStore = new BranchStore(before.database);
  const branchFiles = new BranchFiles({
    sandbox,
    undo,
    store: branchStore,
    layersDir: paths.layersDir,
    logger,
    policyFor: (view) => policyFor(view, config.sandbox),
  });
  const branches = new Branches({
    store: branchStore,
    events: before.eventLog,
    files: branchFiles,
    clock,
    stopJobs: (session) => jobs.endBranch(session),
    onFilesEnd: (branch, end) => before.weakOutcomes.branchEnded(branch, end),
  });
  const views = createViewMaker();
  const accepted = (): Promise<ReadonlySet<string>> => installedHashes(before.projects);
  const installed = createInstalledSource({ toolsDir: paths.toolsDir, accepted, logger });
  const coreSource = createCoreSource({ bundleDir: paths.coreBundleDir, toolsDir: paths.toolsDir });
  const catalog = createCatalog([coreSource, installed]);
  const upstreams = new Upstreams({
    store: before.upstreamServers,
    sandbox,
    outside: before.outside,
    network,
    config: config.sandbox,
    paths,
    idleMs: config.sandbox.idle_ms,
    clock,
    timer,
    logger,
  });
  const servers = deps.upstreams ?? upstreams;
  const access = new ToolAccess(config.gateway.access);
  const passing = new PassedRequests({
    ...before,
    ...moving,
    upstreams,
    links: upstreams.links,
    changes: [upstreams, installed],
    access,
    clock,
    timer,
  });
  const catalogues = new ToolCatalogues({
    ...before,
    choices: before.toolChoices,
    catalog,
    access,
    upstreams: servers,
    config: config.gateway,
    logger,
  });
  const toolHabits = new ToolHabits({ ...before, choices: before.toolChoices, catalogues, logger });
  const toolMeanings =
    before.dense !== null && config.memory.embedding.tools ? new ToolMeanings({ model: before.dense, timer }) : null;
  const primitives = new PrimitiveCatalogues({ ...before, access, upstreams: servers, logger });
  const keepHere = works.work('keep', (call: KeepingCall, part: KeptPart) =>
    keepPart(call, part, { scrubber, artifacts }),
  );
  const keep = ({ session, requestId, tool }: KeepingCall, part: KeptPart) =>
    keepHere({ session, requestId, tool }, part);
  const scrubForTool = works.work('scrub', async (session: SessionRef, texts: string[], handed: Set<string>) => {
    const { value } = await scrubber.scrub(session, texts, { handed });
    return value;
  });
  const verbs = {
    ...createToolVerbs({
      catalogues,
      meanings: toolMeanings,
      habits: toolHabits,
      counter: before.counter,
      isCacheStable: config.gateway.cache_stable,
    }),
    ...createPrimitiveVerbs({
      catalogues: primitives,
      servers,
      config: config.gateway,
      keep,
      counter: before.counter,
      clock,
      timer,
      random: Math.random,
    }),
  };
  const commandPolicyOf = (session: SessionRef) =>
    commandPolicyFor(session, viewOf(session, branches), config.sandbox, before.outside, network);
  const checkpoints = buildCheckpoints({ ...before, undo, branches, catalog, config, clock, logger });
  const { services, cancelled: serviceCancelled } = relocatedServices(
    createHostServices({
      artifacts,
      cursors: before.cursors,
      continuations: before.continuations,
      scrubber,
      jobs,
      findLine: lineFinder(views),
      clock,
      memories: before.memories,
      retrievals: before.retrievals,
      branches,
      checkpoints,
      learn: (work) => before.distiller.distill(work),
      eventLog: before.eventLog,
      contexts: before.contexts,
      countTokens: (text) => before.counter.count(text),
    }),
    { moves, commandPolicyFor: commandPolicyOf, clock },
  );
  return {
    moving,
    carried: new CarriedCalls(clock),
    callUndo: new RelocatedUndo(undo, moves.works),
    serviceCancelled,
    access,
    catalogues,
    primitives,
    executables: createExecutables({ catalogues, config: config.gateway }),
    rates: new CallRates(config.gateway.rate_limits, clock),
    upstreams,
    passing,
    toolHabits,
    toolMeanings,
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
    runner: runByKind({
      host: createHostBackend(verbs, clock),
      upstream: createServerBackend({
        servers,
        passOn: (call, tool, passed) => passing.call(call, tool, passed),
        config: config.gateway,
        keep,
        clock,
        timer,
        random: Math.random,
      }),
      plugin: createRunner({
        sandbox: followed,
        policyFor: (session) => policyFor(viewOf(session, branches), config.sandbox),
        commandPolicyFor: commandPolicyOf,
        toolNetworkFor: (call) => toolNetworkFor(call, before.outside, network),
        toolAccessFor: ({ grants }) => toolAccessFor(grants, config.tools),
        sdkDir: paths.sdkDir,
        privateSocketsDir: paths.dialledSocketsDir,
        config: { idleMs: config.sandbox.idle_ms },
        scrub: async (session, texts, handed) => {
          const value = await scrubForTool(session, [...texts], handed);
          for (const token of value.flatMap(handedIn)) handed.add(token);
          return value;
        },
        services,
        logger,
        clock,
      }),
    }),
  };
}

/** The workspace as a session's calls see it. Throws CONFLICT if the files of its branch are closed. */
export function viewOf(session: SessionRef, branches: Pick<Branches, 'layersOf'>): WorkspaceView {
  return { path: session.project, layer: branches.layersOf(session) };
}

/** Records calls of registered projects only, because callers may name any directory. */
export async function recordCall(call: RecordedCall, { projects, eventLog }: Stores & SessionKeeping): Promise<void> {
  if ((await projects.find(call.session.project)) !== null) eventLog.append(callEvent(call));
}

function callOfJob({ session, record, endedByItself, endedMs, text, artifact }: EndedJob): RecordedCall {
  const said = { texts: [text], data: {}, shows: null };
  return { ...said, session, record, hasRun: true, wasEnded: !endedByItself, endedMs, artifact };
}

/** A call that a dead daemon left open: the session that goes on has to know that it did not end. Nothing ran if it waited. */
export function interruptedCall(record: AuditRecord): RecordedCall {
  const session = { project: record.project, session: record.session, branch: record.branch ?? null };
  const hasRun = record.began === true || !hasWaited(record);
  return { session, record, hasRun, wasEnded: true, data: {}, texts: [], artifact: null, shows: null };
}
