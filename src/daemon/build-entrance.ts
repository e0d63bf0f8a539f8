import type { Figures } from '../call/live.ts';
import type { SessionRef } from '../call/session.ts';
import { fileSources } from '../config/credential-source.ts';
import { daemonEnvironment } from '../config/env.ts';
import { maskedError } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import { turnedAway } from '../dispatch/budget.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import { createRefuse } from '../dispatch/refuse.ts';
import { createRetire } from '../dispatch/retire.ts';
import { createSlots } from '../dispatch/slots.ts';
import { createGrpcDoor, type Door } from '../doors/grpc/grpc.ts';
import { PassedQuestions } from '../doors/grpc/passed-questions.ts';
import { createHttpDoor, type HttpDoor } from '../doors/http/door.ts';
import { CallApprovals } from '../features/approvals/call-approvals.ts';
import { questionEvent } from '../features/approvals/question-event.ts';
import { holdFiles } from '../features/branches/branch-runner.ts';
import { createClientHooks } from '../features/client-hooks/client-hooks.ts';
import { holdHooks } from '../features/hand-over/acts.ts';
import { Departure } from '../features/hand-over/departure.ts';
import { relocatedChanges } from '../features/hand-over/relocated-parts.ts';
import { checkHealth } from '../features/health/health.ts';
import type { HttpManagementDeps } from '../features/http/management.ts';
import { explainCrashes } from '../features/lost-calls/crashed.ts';
import { createLostCalls } from '../features/lost-calls/lost-calls.ts';
import { policyFor } from '../features/outside/policy.ts';
import { createPolicyHash } from '../features/outside/policy-hash.ts';
import { ClientRules } from '../features/rules/client-rules.ts';
import { JudgeThread } from '../features/rules/judge-thread.ts';
import { MANAGED_SETTINGS, RuleFiles } from '../features/rules/rule-files.ts';
import { createSessionEnd, type SessionEnd, type SessionStateHolder } from '../features/sessions/session-end.ts';
import { RecordedSettings } from '../features/settings/recorded-settings.ts';
import { type CallGate, createCallGate } from '../features/shared/call-gate.ts';
import { storageHolder } from '../features/storage/storage-life.ts';
import { buildTelemetry, type Telemetry } from '../features/telemetry/telemetry.ts';
import type { ToolManagementDeps } from '../features/tools/management.ts';
import { watchFiles } from '../features/undo/watched-runner.ts';
import type { Management } from '../protocol/management-contract.ts';
import { baseView, type SandboxPolicy, type WorkspaceView } from '../sandbox/contract/policy.ts';
import { type Execution, recordCall, viewOf } from './build-execution.ts';
import type { Remembering, SessionKeeping } from './build-remembering.ts';
import type { Scrubbing } from './build-scrubbing.ts';
import type { Stores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';
import { createManagement } from './management.ts';

export type Entrance = ReturnType<typeof buildEntrance>;

type BeforeEntrance = Stores & Scrubbing & Remembering & SessionKeeping & Execution;

/** Builds the entrance: dispatch, management, and the door to both. `ownDoor` replaces the daemon's door. */
export function buildEntrance(deps: ComposeDeps, before: BeforeEntrance, ownDoor?: Door) {
  const { paths, config, clock, timer, logger } = deps;
  const { keys, scrubber, moves } = before;
  const { auditLog, secondSearch } = before.moving;
  const refuse = createRefuse({ ...before, auditLog, clock, logger });
  const view = (session: SessionRef): WorkspaceView => viewOf(session, before.branches);
  const { fileBytes } = policyFor(baseView('/'), config.sandbox).limits;
  const watched = config.undo.enabled ? watchFiles(before.runner, before.callUndo, view, fileBytes) : before.runner;
  const slots = createSlots(config.server, clock);
  const approvals = new CallApprovals({ ...before, rules: before.approvalRules, clock, timer, logger });
  approvals.subscribe((event) =>
    before.liveEvents.approval(event.question.session.project, questionEvent(event, scrubber)),
  );
  const judgeThread = new JudgeThread();
  const { home, xdgConfigHome: configHome } = deps.environment;
  const ruleFiles = new RuleFiles({ home, configHome, managedSettings: MANAGED_SETTINGS });
  const clientRules = new ClientRules({ files: ruleFiles, thread: judgeThread });
  const telemetry = buildTelemetry({
    ...before,
    config: config.telemetry,
    environment: fileSources(deps.environment),
    figures: () => figures(),
    clock,
    logger,
  });
  const dispatch = createDispatch({
    ...before,
    scrubber: before.moving.scrubber,
    ...(telemetry === null ? {} : { traceCall: telemetry.ended }),
    approvals,
    commandRules: clientRules,
    policyHash: createPolicyHash({ ...before, config }),
    runner: holdFiles(explainCrashes(watched, config), relocatedChanges(before.branches, moves.works)),
    secondSearch,
    findings: before.jobs.findings,
    onCallEnded(call) {
      void recordCall(call, before);
      before.toolHabits.ended(call);
    },
    limits: config,
    config,
    slots,
    clock,
    logger,
  });
  const renamed = (requestId: string, to: string): void => gate.rename(requestId, to);
  const lostCalls = createLostCalls(dispatch, { ...before, refuse, renamed, config, clock, logger });
  const retire = createRetire({ ...before, clock });
  const gate: CallGate = createCallGate(lostCalls, { ...before, refuse, retire, clock });
  const sessionEnd = createSessionEnd({ ...before, holders: holdersOf(before), logger });
  const settings = new RecordedSettings({ ...before, paths, clock });
  const questions = new PassedQuestions();
  const departure = new Departure({
    ...before,
    ...deps,
    questions,
    drainMs: config.server.drain_ms,
    environment: daemonEnvironment(deps.environment),
    isAllowed: deps.canHandOver ?? false,
    gate,
  });
  const management = managementOf(deps, {
    telemetry,
    ...before,
    auditLog,
    departure,
    standardSurface: config.gateway.surface,
    approvals,
    clientRules,
    gate,
    sessionEnd,
    settings,
    httpStanding: () => httpDoor.standing(),
  });
  const mask = (text: string): string => scrubber.maskText(text);
  const { passing } = before;
  const hooks = createClientHooks({
    ...before,
    auditLog,
    secondSearch,
    undo: config.undo.enabled ? before.undo : null,
    onCallEnded: (call) => void recordCall(call, before),
    rules: {
      deny: config.sandbox.deny,
      ownDirectories: [paths.configDir, paths.dataDir, paths.stateDir, paths.runDir, paths.installRoot],
      ...ruleFiles.personal,
    },
    clock,
    logger,
  });
  const doorDeps = { paths, dispatch: gate.dispatch, refuse, management, passing, mask, clock, logger };
  const replaces = (): boolean => deps.arrival !== undefined;
  const door: Door =
    ownDoor ?? createGrpcDoor({ ...doorDeps, questions, answerHook: holdHooks(hooks, moves.acts), replaces });
  const startedMs = clock.now();
  const figures = (): Figures => ({
    ...before.callFigures.read(),
    callsRunning: gate.active(),
    callsWaiting: slots.waiting(),
    residentBytes: process.memoryUsage.rss(),
    startedMs,
  });
  const httpDoor: HttpDoor = createHttpDoor({
    ...doorDeps,
    config: config.http,
    tokens: before.httpTokens,
    proofKey: (id) => keys.derive('http', id),
    refusalLine: (why) => turnedAway(newRequestId(clock.now()), maskedError(why, mask), before.counter).answer.line,
    feed: before.liveEvents,
    figures,
    otherConnections: () => ({ grpc: door.connections() }),
  });
  return {
    questions,
    approvals,
    clientRules,
    judgeThread,
    gate,
    door,
    httpDoor,
    sessionEnd,
    settings,
    departure,
    telemetry,
  };
}

/** Holders of session state, in the order in which they end a session. */
function holdersOf({ branches, jobs, scrubber, sandbox }: Scrubbing & Execution): SessionStateHolder[] {
  const secrets = { name: 'secrets', endSession: async (session: SessionRef) => scrubber.forget(session) };
  return [branches, jobs, secrets, storageHolder(sandbox)];
}

interface ManagementParts
  extends BeforeEntrance,
    Pick<HttpManagementDeps, 'httpStanding'>,
    Pick<ToolManagementDeps, 'standardSurface'> {
  approvals: CallApprovals;
  clientRules: ClientRules;
  gate: CallGate;
  departure: Departure;
  sessionEnd: SessionEnd;
  settings: RecordedSettings;
  telemetry: Telemetry | null;
}

function managementOf(deps: ComposeDeps, parts: ManagementParts): Management {
  const { environment, paths, config, clock, logger, requestStop } = deps;
  const rootPolicy = (root: string): SandboxPolicy => ({
    ...policyFor(baseView(root), config.sandbox),
    allowedPaths: parts.outside.pathsOf(root),
  });
  return createManagement({
    ...parts,
    home: environment.home,
    paths,
    reviews: { ...parts, policyFor: rootPolicy },
    networking: { ...parts, rules: parts.networkRules, log: parts.networkLog, journal: parts.networkJournal, clock },
    credentials: { ...parts, credentials: parts.networkCredentials, clock },
    installation: { ...parts, paths, config: config.install, environment, clock },
    serving: { ...parts, masks: parts.upstreamMasks, credentials: parts.networkCredentials, clock, paths },
    memory: { ...parts, clock },
    sessionKeeping: parts,
    undoing: { ...parts, events: parts.eventLog, clock },
    ports: { ...parts, policyFor: rootPolicy, privateSocketsDir: paths.dialledSocketsDir, logger },
    clock,
    checkHealth: (projectRoot) => checkHealth(projectRoot, { ...parts, config, installRoot: paths.installRoot, clock }),
    requestStop: (graceMs, cause) => requestStop(graceMs === 0 ? config.server.drain_ms : graceMs, cause),
  });
}
