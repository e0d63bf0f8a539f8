import type { Management, SchemaResponse } from '../call/management.ts';
import type { CallAnswer, CallRequest, Dispatch, Refuse } from '../call/request.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { ExecuteRequest__Output } from '../protocol/generated/contextd/v1/ExecuteRequest.ts';
import type { ExecuteResponse } from '../protocol/generated/contextd/v1/ExecuteResponse.ts';
import type { InstallRequest__Output } from '../protocol/generated/contextd/v1/InstallRequest.ts';
import type { ManagementServiceHandlers } from '../protocol/generated/contextd/v1/ManagementService.ts';
import type { RefusalReport__Output } from '../protocol/generated/contextd/v1/RefusalReport.ts';
import type { SchemaRequest__Output } from '../protocol/generated/contextd/v1/SchemaRequest.ts';
import type { ToolServiceHandlers } from '../protocol/generated/contextd/v1/ToolService.ts';
import { receiveCall, receiveRefusal, versionFault } from './call-request.ts';
import type { Caller } from './identities.ts';
import { checkRequests } from './management-requests.ts';
import type { EventRoute, Route } from './rpc.ts';

export interface RouteDeps {
  dispatch: Dispatch;
  refuse: Refuse;
  management: Management;
  clock: Clock;
  logger: Logger;
}

const TOOL_CALLERS: readonly Caller[] = ['proxy', 'cli'];
const MANAGEMENT_CALLERS: readonly Caller[] = ['cli'];

/** Who may call which rpc of ToolService, and what answers it. */
export function toolRoutes(deps: RouteDeps, route: Route, eventRoute: EventRoute): ToolServiceHandlers {
  return {
    Execute: route(TOOL_CALLERS, (wire: ExecuteRequest__Output, signal, caller) => execute(wire, signal, caller, deps)),
    ExecuteWithProgress: eventRoute(TOOL_CALLERS, async (wire: ExecuteRequest__Output, signal, caller, send) => {
      const onProgress = (text: string): void => send({ progress: { text } });
      return { answer: await execute(wire, signal, caller, deps, onProgress) };
    }),
    GetSchema: route(TOOL_CALLERS, (wire: SchemaRequest__Output) => getSchema(wire, deps)),
    ReportRefusal: route(TOOL_CALLERS, async (wire: RefusalReport__Output, signal, caller) => {
      const { request, why } = receiveRefusal(wire, signal, caller, deps.clock.now());
      await deps.refuse(request, why);
      return {};
    }),
  };
}

/** Who may call which rpc of ManagementService, and what answers it. */
export function managementRoutes(
  management: Management,
  route: Route,
  eventRoute: EventRoute,
): ManagementServiceHandlers {
  const checked = checkRequests(management);
  const only = MANAGEMENT_CALLERS;
  return {
    ServerStatus: route(only, checked.serverStatus),
    StopServer: route(only, checked.stopServer),
    RegisterProject: route(only, checked.registerProject),
    UnregisterProject: route(only, checked.unregisterProject),
    ListTools: route(only, checked.listTools),
    InstallTool: eventRoute(only, (request: InstallRequest__Output, signal, _caller, send) =>
      checked.installTool(request, signal, send),
    ),
    AcceptTool: route(only, checked.acceptTool),
    RollbackTool: route(only, checked.rollbackTool),
    RemoveTool: route(only, checked.removeTool),
    TailAudit: route(only, checked.tailAudit),
    CheckHealth: route(only, checked.checkHealth),
    SessionSecrets: route(only, checked.sessionSecrets),
    RevealSecret: route(only, checked.revealSecret),
    AllowValue: route(only, checked.allowValue),
    DisallowValue: route(only, checked.disallowValue),
    ListAllowedValues: route(only, checked.listAllowedValues),
    EndSession: route(only, checked.endSession),
    ListCaches: route(only, checked.listCaches),
    ClearCaches: route(only, checked.clearCaches),
    ListRunning: route(only, checked.listRunning),
    KillRunning: route(only, checked.killRunning),
    Stats: route(only, checked.stats),
    ReviewRules: route(only, checked.reviewRules),
    ApproveRules: route(only, checked.approveRules),
    RevokeRules: route(only, checked.revokeRules),
    ListQuarantine: route(only, checked.listQuarantine),
    RestoreQuarantined: route(only, checked.restoreQuarantined),
    AcceptQuarantined: route(only, checked.acceptQuarantined),
    RevokeAccepted: route(only, checked.revokeAccepted),
    SetToolchains: route(only, checked.setToolchains),
    ListToolchains: route(only, checked.listToolchains),
    SetHostNetwork: route(only, checked.setHostNetwork),
    ReadHostNetwork: route(only, checked.readHostNetwork),
    ListSessions: route(only, checked.listSessions),
    ReadSession: route(only, checked.readSession),
    InspectSession: route(only, checked.inspectSession),
    ReplaySession: route(only, checked.replaySession),
    AllowPath: route(only, checked.allowPath),
    DisallowPath: route(only, checked.disallowPath),
    ListPaths: route(only, checked.listPaths),
    ListPorts: route(only, checked.listPorts),
    OpenPort: route(only, checked.openPort),
    ChangeNetwork: route(only, checked.changeNetwork),
    ListNetwork: route(only, checked.listNetwork),
    ListNetworkGroups: route(only, checked.listNetworkGroups),
    SetNetworkCredential: route(only, checked.setNetworkCredential),
    RemoveNetworkCredentials: route(only, checked.removeNetworkCredentials),
    ListNetworkCredentials: route(only, checked.listNetworkCredentials),
    ReadNetworkLog: route(only, checked.readNetworkLog),
    SearchMemories: route(only, checked.searchMemories),
    ListMemories: route(only, checked.listMemories),
    GetMemories: route(only, checked.getMemories),
    AddMemories: route(only, checked.addMemories),
    RateMemory: route(only, checked.rateMemory),
    ForgetMemories: route(only, checked.forgetMemories),
    PromoteMemory: route(only, checked.promoteMemory),
    ReportMemories: route(only, checked.reportMemories),
    LearnFromCalls: route(only, checked.learnFromCalls),
    ListLessons: route(only, checked.listLessons),
    ListBranches: route(only, checked.listBranches),
    PlanBranchFiles: route(only, checked.planBranchFiles),
    EndBranchFiles: route(only, checked.endBranchFiles),
    SyncMemories: route(only, checked.syncMemories),
    TakeHook: route(only, checked.takeHook),
    PlanUndo: route(only, checked.planUndo),
    UndoChanges: route(only, checked.undoChanges),
    SaveCheckpoint: route(only, checked.saveCheckpoint),
    ListCheckpoints: route(only, checked.listCheckpoints),
    ReadCheckpoint: route(only, checked.readCheckpoint),
    ExportCheckpoint: route(only, checked.exportCheckpoint),
    ImportCheckpoint: route(only, checked.importCheckpoint),
  };
}

async function execute(
  wire: ExecuteRequest__Output,
  signal: AbortSignal,
  caller: Caller,
  deps: RouteDeps,
  onProgress?: CallRequest['onProgress'],
): Promise<ExecuteResponse> {
  const received = receiveCall(wire, signal, caller, deps.clock.now());
  const { fault } = received;
  const request = onProgress === undefined ? received.request : { ...received.request, onProgress };
  const answer = await (fault === undefined ? dispatched(request, deps) : deps.refuse(request, fault));
  return {
    envelope_json: Buffer.from(answer.line),
    exit_code: answer.exitCode,
    error_line: answer.errorLine,
    text_stdout: Buffer.from(answer.text?.stdout ?? ''),
    text_stderr: Buffer.from(answer.text?.stderr ?? ''),
  };
}

/**
 * Dispatch answers every failure itself. If it throws anyway, the caller still gets an envelope. A daemon that is stopping
 * throws DAEMON_UNAVAILABLE, which goes out as it is: the call may be sent again.
 */
async function dispatched(request: CallRequest, deps: RouteDeps): Promise<CallAnswer> {
  try {
    return await deps.dispatch(request);
  } catch (thrown) {
    if (thrown instanceof ContextdError && thrown.code === 'DAEMON_UNAVAILABLE') throw thrown;
    deps.logger.error('call.unanswered', { request_id: request.requestId }, thrown);
    return await deps.refuse(request, ContextdError.from(thrown));
  }
}

async function getSchema(wire: SchemaRequest__Output, { management }: RouteDeps): Promise<SchemaResponse> {
  const fault = versionFault(wire.context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
  return management.getSchema(wire.tool, wire.context?.project_root ?? '');
}
