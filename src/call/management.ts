import type { AcceptQuarantinedRequest__Output as AcceptQuarantinedRequest } from '../protocol/generated/contextd/v1/AcceptQuarantinedRequest.ts';
import type { AcceptToolRequest__Output as AcceptToolRequest } from '../protocol/generated/contextd/v1/AcceptToolRequest.ts';
import type { AddedMemories__Output as AddedMemories } from '../protocol/generated/contextd/v1/AddedMemories.ts';
import type { AddedMemory__Output as AddedMemory } from '../protocol/generated/contextd/v1/AddedMemory.ts';
import type { AllowedValue__Output as AllowedValue } from '../protocol/generated/contextd/v1/AllowedValue.ts';
import type { AllowedValues__Output as AllowedValues } from '../protocol/generated/contextd/v1/AllowedValues.ts';
import type { AllowValueRequest__Output as AllowValueRequest } from '../protocol/generated/contextd/v1/AllowValueRequest.ts';
import type { ApproveRulesRequest__Output as ApproveRulesRequest } from '../protocol/generated/contextd/v1/ApproveRulesRequest.ts';
import type { AuditRequest__Output as AuditRequest } from '../protocol/generated/contextd/v1/AuditRequest.ts';
import type { AuditResponse__Output as AuditResponse } from '../protocol/generated/contextd/v1/AuditResponse.ts';
import type { BranchFilesPlan__Output as BranchFilesPlan } from '../protocol/generated/contextd/v1/BranchFilesPlan.ts';
import type { BranchFilesRequest__Output as BranchFilesRequest } from '../protocol/generated/contextd/v1/BranchFilesRequest.ts';
import type { BranchInfo__Output as BranchInfo } from '../protocol/generated/contextd/v1/BranchInfo.ts';
import type { BranchList__Output as BranchList } from '../protocol/generated/contextd/v1/BranchList.ts';
import type { CachesRequest__Output as CachesRequest } from '../protocol/generated/contextd/v1/CachesRequest.ts';
import type { CachesResponse__Output as CachesResponse } from '../protocol/generated/contextd/v1/CachesResponse.ts';
import type { CheckpointItem__Output as CheckpointItem } from '../protocol/generated/contextd/v1/CheckpointItem.ts';
import type { CheckpointList__Output as CheckpointList } from '../protocol/generated/contextd/v1/CheckpointList.ts';
import type { CheckpointRequest__Output as CheckpointRequest } from '../protocol/generated/contextd/v1/CheckpointRequest.ts';
import type { CheckpointText__Output as CheckpointText } from '../protocol/generated/contextd/v1/CheckpointText.ts';
import type { DisallowValueRequest__Output as DisallowValueRequest } from '../protocol/generated/contextd/v1/DisallowValueRequest.ts';
import type { EndSessionResponse__Output as EndSessionResponse } from '../protocol/generated/contextd/v1/EndSessionResponse.ts';
import type { HandedIn__Output as HandedIn } from '../protocol/generated/contextd/v1/HandedIn.ts';
import type { HealthCheck__Output } from '../protocol/generated/contextd/v1/HealthCheck.ts';
import type { HealthRequest__Output as HealthRequest } from '../protocol/generated/contextd/v1/HealthRequest.ts';
import type { HealthResponse__Output as HealthResponse } from '../protocol/generated/contextd/v1/HealthResponse.ts';
import type { HookAnswer__Output as HookAnswer } from '../protocol/generated/contextd/v1/HookAnswer.ts';
import type { HookReport__Output as HookReport } from '../protocol/generated/contextd/v1/HookReport.ts';
import type { HostNetwork__Output as HostNetwork } from '../protocol/generated/contextd/v1/HostNetwork.ts';
import type { HostNetworkRequest__Output as HostNetworkRequest } from '../protocol/generated/contextd/v1/HostNetworkRequest.ts';
import type { ImportedCheckpoint__Output as ImportedCheckpoint } from '../protocol/generated/contextd/v1/ImportedCheckpoint.ts';
import type { InstallEvent } from '../protocol/generated/contextd/v1/InstallEvent.ts';
import type { InstallProgress__Output as InstallProgress } from '../protocol/generated/contextd/v1/InstallProgress.ts';
import type { InstallRequest__Output as InstallRequest } from '../protocol/generated/contextd/v1/InstallRequest.ts';
import type { KillRequest__Output as KillRequest } from '../protocol/generated/contextd/v1/KillRequest.ts';
import type { LearnRequest__Output as LearnRequest } from '../protocol/generated/contextd/v1/LearnRequest.ts';
import type { ListeningPort__Output as ListeningPort } from '../protocol/generated/contextd/v1/ListeningPort.ts';
import type { ListRequest__Output as ListRequest } from '../protocol/generated/contextd/v1/ListRequest.ts';
import type { ListResponse__Output as ListResponse } from '../protocol/generated/contextd/v1/ListResponse.ts';
import type { MemoryEvidence__Output as MemoryEvidence } from '../protocol/generated/contextd/v1/MemoryEvidence.ts';
import type { MemoryItem__Output as MemoryItem } from '../protocol/generated/contextd/v1/MemoryItem.ts';
import type { MemoryList__Output as MemoryList } from '../protocol/generated/contextd/v1/MemoryList.ts';
import type { MemoryListRequest__Output as MemoryListRequest } from '../protocol/generated/contextd/v1/MemoryListRequest.ts';
import type { MemoryQuery__Output as MemoryQuery } from '../protocol/generated/contextd/v1/MemoryQuery.ts';
import type { MemoryRating__Output as MemoryRating } from '../protocol/generated/contextd/v1/MemoryRating.ts';
import type { MemoryReport__Output as MemoryReport } from '../protocol/generated/contextd/v1/MemoryReport.ts';
import type { MemoryRequest__Output as MemoryRequest } from '../protocol/generated/contextd/v1/MemoryRequest.ts';
import type { MemorySync__Output as MemorySync } from '../protocol/generated/contextd/v1/MemorySync.ts';
import type { MemorySyncRequest__Output as MemorySyncRequest } from '../protocol/generated/contextd/v1/MemorySyncRequest.ts';
import type { NetworkChange__Output as NetworkChange } from '../protocol/generated/contextd/v1/NetworkChange.ts';
import type { NetworkCredentialChange__Output as NetworkCredentialChange } from '../protocol/generated/contextd/v1/NetworkCredentialChange.ts';
import type { NetworkCredentialInfo__Output as NetworkCredentialInfo } from '../protocol/generated/contextd/v1/NetworkCredentialInfo.ts';
import type { NetworkCredentialRemoval__Output as NetworkCredentialRemoval } from '../protocol/generated/contextd/v1/NetworkCredentialRemoval.ts';
import type { NetworkCredentials__Output as NetworkCredentials } from '../protocol/generated/contextd/v1/NetworkCredentials.ts';
import type { NetworkGroup__Output as NetworkGroup } from '../protocol/generated/contextd/v1/NetworkGroup.ts';
import type { NetworkGroups__Output as NetworkGroups } from '../protocol/generated/contextd/v1/NetworkGroups.ts';
import type { NetworkGroupsRequest__Output as NetworkGroupsRequest } from '../protocol/generated/contextd/v1/NetworkGroupsRequest.ts';
import type { NetworkLogEntry__Output as NetworkLogEntry } from '../protocol/generated/contextd/v1/NetworkLogEntry.ts';
import type { NetworkLogRequest__Output as NetworkLogRequest } from '../protocol/generated/contextd/v1/NetworkLogRequest.ts';
import type { NetworkLogResponse__Output as NetworkLogResponse } from '../protocol/generated/contextd/v1/NetworkLogResponse.ts';
import type { NetworkRequest__Output as NetworkRequest } from '../protocol/generated/contextd/v1/NetworkRequest.ts';
import type { NetworkRuleInfo__Output as NetworkRuleInfo } from '../protocol/generated/contextd/v1/NetworkRuleInfo.ts';
import type { NetworkState__Output as NetworkState } from '../protocol/generated/contextd/v1/NetworkState.ts';
import type { NetworkToolInfo__Output as NetworkToolInfo } from '../protocol/generated/contextd/v1/NetworkToolInfo.ts';
import type { NewCheckpoint__Output as NewCheckpoint } from '../protocol/generated/contextd/v1/NewCheckpoint.ts';
import type { NewMemories__Output as NewMemories } from '../protocol/generated/contextd/v1/NewMemories.ts';
import type { OpenPortRequest__Output as OpenPortRequest } from '../protocol/generated/contextd/v1/OpenPortRequest.ts';
import type { OpenPortResponse__Output as OpenPortResponse } from '../protocol/generated/contextd/v1/OpenPortResponse.ts';
import type { PathList__Output as PathList } from '../protocol/generated/contextd/v1/PathList.ts';
import type { PathRequest__Output as PathRequest } from '../protocol/generated/contextd/v1/PathRequest.ts';
import type { PendingLesson__Output as PendingLesson } from '../protocol/generated/contextd/v1/PendingLesson.ts';
import type { PendingLessons__Output as PendingLessons } from '../protocol/generated/contextd/v1/PendingLessons.ts';
import type { PortsResponse__Output as PortsResponse } from '../protocol/generated/contextd/v1/PortsResponse.ts';
import type { ProjectRequest__Output as ProjectRequest } from '../protocol/generated/contextd/v1/ProjectRequest.ts';
import type { ProjectResponse__Output as ProjectResponse } from '../protocol/generated/contextd/v1/ProjectResponse.ts';
import type { ProjectTools__Output as ProjectTools } from '../protocol/generated/contextd/v1/ProjectTools.ts';
import type { QuarantinedItem__Output as QuarantinedItem } from '../protocol/generated/contextd/v1/QuarantinedItem.ts';
import type { QuarantineRequest__Output as QuarantineRequest } from '../protocol/generated/contextd/v1/QuarantineRequest.ts';
import type { QuarantineResponse__Output as QuarantineResponse } from '../protocol/generated/contextd/v1/QuarantineResponse.ts';
import type { RevealedSecret__Output as RevealedSecret } from '../protocol/generated/contextd/v1/RevealedSecret.ts';
import type { RollbackToolRequest__Output as RollbackToolRequest } from '../protocol/generated/contextd/v1/RollbackToolRequest.ts';
import type { RulesReview__Output as RulesReview } from '../protocol/generated/contextd/v1/RulesReview.ts';
import type { RunningItem__Output as RunningItem } from '../protocol/generated/contextd/v1/RunningItem.ts';
import type { RunningRequest__Output as RunningRequest } from '../protocol/generated/contextd/v1/RunningRequest.ts';
import type { RunningResponse__Output as RunningResponse } from '../protocol/generated/contextd/v1/RunningResponse.ts';
import type { SandboxStatus__Output as SandboxStatus } from '../protocol/generated/contextd/v1/SandboxStatus.ts';
import type { SchemaResponse__Output as SchemaResponse } from '../protocol/generated/contextd/v1/SchemaResponse.ts';
import type { SecretRequest__Output as SecretRequest } from '../protocol/generated/contextd/v1/SecretRequest.ts';
import type { SecretSummary__Output as SecretSummary } from '../protocol/generated/contextd/v1/SecretSummary.ts';
import type { SessionContext__Output as SessionContext } from '../protocol/generated/contextd/v1/SessionContext.ts';
import type { SessionContextRequest__Output as SessionContextRequest } from '../protocol/generated/contextd/v1/SessionContextRequest.ts';
import type { SessionEvent__Output as SessionEvent } from '../protocol/generated/contextd/v1/SessionEvent.ts';
import type { SessionEvents__Output as SessionEvents } from '../protocol/generated/contextd/v1/SessionEvents.ts';
import type { SessionEventsRequest__Output as SessionEventsRequest } from '../protocol/generated/contextd/v1/SessionEventsRequest.ts';
import type { SessionList__Output as SessionList } from '../protocol/generated/contextd/v1/SessionList.ts';
import type { SessionReplay__Output as SessionReplay } from '../protocol/generated/contextd/v1/SessionReplay.ts';
import type { SessionRequest__Output as SessionRequest } from '../protocol/generated/contextd/v1/SessionRequest.ts';
import type { SessionSecretsResponse__Output as SessionSecretsResponse } from '../protocol/generated/contextd/v1/SessionSecretsResponse.ts';
import type { StatsRequest__Output as StatsRequest } from '../protocol/generated/contextd/v1/StatsRequest.ts';
import type { StatsResponse__Output as StatsResponse } from '../protocol/generated/contextd/v1/StatsResponse.ts';
import type { StatsRow__Output as StatsRow } from '../protocol/generated/contextd/v1/StatsRow.ts';
import type { StatusRequest__Output as StatusRequest } from '../protocol/generated/contextd/v1/StatusRequest.ts';
import type { StatusResponse__Output as StatusResponse } from '../protocol/generated/contextd/v1/StatusResponse.ts';
import type { StopRequest__Output as StopRequest } from '../protocol/generated/contextd/v1/StopRequest.ts';
import type { StopResponse__Output as StopResponse } from '../protocol/generated/contextd/v1/StopResponse.ts';
import type { Toolchain__Output as Toolchain } from '../protocol/generated/contextd/v1/Toolchain.ts';
import type { ToolchainList__Output as ToolchainList } from '../protocol/generated/contextd/v1/ToolchainList.ts';
import type { ToolchainRequest__Output as ToolchainRequest } from '../protocol/generated/contextd/v1/ToolchainRequest.ts';
import type { ToolInfo__Output as ToolInfo } from '../protocol/generated/contextd/v1/ToolInfo.ts';
import type { ToolPlan__Output as ToolPlan } from '../protocol/generated/contextd/v1/ToolPlan.ts';
import type { ToolRequest__Output as ToolRequest } from '../protocol/generated/contextd/v1/ToolRequest.ts';
import type { UndoPlan__Output as UndoPlan } from '../protocol/generated/contextd/v1/UndoPlan.ts';
import type { UndoRequest__Output as UndoRequest } from '../protocol/generated/contextd/v1/UndoRequest.ts';

export type {
  AddedMemories,
  AddedMemory,
  AllowedValue,
  AllowedValues,
  AllowValueRequest,
  BranchFilesPlan,
  BranchFilesRequest,
  BranchInfo,
  BranchList,
  CachesResponse,
  CheckpointItem,
  CheckpointText,
  EndSessionResponse,
  HandedIn,
  HookReport,
  HostNetwork,
  ImportedCheckpoint,
  InstallEvent,
  InstallProgress,
  InstallRequest,
  LearnRequest,
  ListeningPort,
  MemoryEvidence,
  MemoryItem,
  MemoryList,
  MemoryListRequest,
  MemoryQuery,
  MemoryRating,
  MemoryReport,
  MemoryRequest,
  MemorySync,
  MemorySyncRequest,
  NetworkChange,
  NetworkCredentialChange,
  NetworkCredentialInfo,
  NetworkCredentialRemoval,
  NetworkCredentials,
  NetworkGroup,
  NetworkGroups,
  NetworkLogEntry,
  NetworkLogRequest,
  NetworkRuleInfo,
  NetworkState,
  NetworkToolInfo,
  NewMemories,
  PathList,
  PathRequest,
  PendingLesson,
  PendingLessons,
  ProjectTools,
  QuarantinedItem,
  QuarantineResponse,
  RevealedSecret,
  RollbackToolRequest,
  RulesReview,
  RunningItem,
  SandboxStatus,
  SchemaResponse,
  SecretRequest,
  SecretSummary,
  SessionContext,
  SessionContextRequest,
  SessionEvent,
  SessionEvents,
  SessionEventsRequest,
  SessionList,
  SessionReplay,
  StatsRow,
  StatusResponse,
  StopRequest,
  StopResponse,
  Toolchain,
  ToolchainList,
  ToolInfo,
  ToolPlan,
  ToolRequest,
  UndoPlan,
};

/** One line of `ctxd doctor` as the daemon makes it. The message itself has any text as its status. */
export interface HealthCheck extends HealthCheck__Output {
  status: 'ok' | 'warn' | 'fail';
}

/** A `vital` event is sent even if the caller does not keep up. */
export type SendInstallEvent = (event: InstallEvent, vital?: 'vital') => void;

/**
 * What a person may ask of the daemon: one method per rpc of ManagementService, and the schema of a tool. Requests and
 * answers are the messages of proto/contextd/v1/management.proto, whose comments say what each field means. They are
 * plain data, so the gRPC door, any other door and the client of `ctxd` share this contract.
 */
export interface Management {
  serverStatus(request: StatusRequest): Promise<StatusResponse>;
  /** Returns when no call is under way any more, before the daemon ends. */
  stopServer(request: StopRequest): Promise<StopResponse>;
  registerProject(request: ProjectRequest): Promise<ProjectResponse>;
  unregisterProject(request: ProjectRequest): Promise<ProjectResponse>;
  /** Throws NOT_FOUND if the project is not registered. */
  listTools(request: ListRequest): Promise<ListResponse>;
  /**
   * Fetches a tool, sends what it would change, and returns the last event when the project has it. Nothing of it is left
   * if the signal is aborted first. Throws what is wrong with the source or the tool.
   */
  installTool(request: InstallRequest, signal: AbortSignal, send: SendInstallEvent): Promise<InstallEvent>;
  /** Throws EXPIRED unless the tool is offered, PERMISSION_DENIED if nobody was asked and it wants too much. */
  acceptTool(request: AcceptToolRequest): Promise<ProjectTools>;
  /** Throws TOOL_NOT_FOUND for a tool that is not installed, NOT_FOUND if there was no version before, also for a preview. */
  rollbackTool(request: RollbackToolRequest): Promise<ProjectTools>;
  removeTool(request: ToolRequest): Promise<ProjectTools>;
  tailAudit(request: AuditRequest): Promise<AuditResponse>;
  checkHealth(request: HealthRequest): Promise<HealthResponse>;
  sessionSecrets(request: SessionRequest): Promise<SessionSecretsResponse>;
  /** Throws SECRET_UNKNOWN for a token that the session does not hold, AUDIT_FAILED if it cannot be recorded. */
  revealSecret(request: SecretRequest): Promise<RevealedSecret>;
  /** Throws NOT_FOUND if the project is not registered, SECRET_UNKNOWN as above. */
  allowValue(request: AllowValueRequest): Promise<AllowedValues>;
  /** Throws NOT_FOUND if no allowed value has the id, and CONFLICT if several ids begin with it. */
  disallowValue(request: DisallowValueRequest): Promise<AllowedValues>;
  listAllowedValues(request: ProjectRequest): Promise<AllowedValues>;
  /** Each of these throws NOT_FOUND if the project is not registered or has no such session. */
  listSessions(request: ProjectRequest): Promise<SessionList>;
  readSession(request: SessionEventsRequest): Promise<SessionEvents>;
  /** Throws ARGS_INVALID for an unknown phase or sensitivity. */
  inspectSession(request: SessionContextRequest): Promise<SessionContext>;
  replaySession(request: SessionRequest): Promise<SessionReplay>;
  endSession(request: SessionRequest): Promise<EndSessionResponse>;
  /** Jobs first, then calls; the oldest first. */
  listCaches(request: CachesRequest): Promise<CachesResponse>;
  /** Throws NOT_FOUND if the project has no caches. */
  clearCaches(request: CachesRequest): Promise<CachesResponse>;
  listRunning(request: RunningRequest): Promise<RunningResponse>;
  /** Returns what it ended. Throws NOT_FOUND if nothing has the id, and CONFLICT if several begin or end with it. */
  killRunning(request: KillRequest): Promise<RunningResponse>;
  stats(request: StatsRequest): Promise<StatsResponse>;
  /** Throws NOT_FOUND if the project is not registered. */
  reviewRules(request: ProjectRequest): Promise<RulesReview>;
  /** Throws CONFLICT if the file has changed since it was reviewed. */
  approveRules(request: ApproveRulesRequest): Promise<RulesReview>;
  revokeRules(request: ProjectRequest): Promise<RulesReview>;
  /** Throws NOT_FOUND if the project is not registered, PATH_NOT_FOUND if nothing has that name. */
  listQuarantine(request: QuarantineRequest): Promise<QuarantineResponse>;
  /** Throws CONFLICT if the path is taken again, and while a command runs in the project. */
  restoreQuarantined(request: QuarantineRequest): Promise<QuarantineResponse>;
  /** Throws CONFLICT if the content has changed since it was shown. */
  acceptQuarantined(request: AcceptQuarantinedRequest): Promise<QuarantineResponse>;
  revokeAccepted(request: QuarantineRequest): Promise<QuarantineResponse>;
  /** Throws PATH_INVALID for a directory that must not be mounted. */
  setToolchains(request: ToolchainList): Promise<ToolchainList>;
  listToolchains(request: ToolchainRequest): Promise<ToolchainList>;
  /** Throws ARGS_INVALID for a certificate or setting that cannot be used. */
  setHostNetwork(request: HostNetwork): Promise<HostNetwork>;
  readHostNetwork(request: HostNetworkRequest): Promise<HostNetwork>;
  /** Throws NOT_FOUND if the project is not registered, PATH_INVALID for a directory that must not be written. */
  allowPath(request: PathRequest): Promise<PathList>;
  /** Throws PATH_NOT_FOUND if the directory was not allowed. */
  disallowPath(request: PathRequest): Promise<PathList>;
  listPaths(request: ProjectRequest): Promise<PathList>;
  /** Throws NOT_FOUND if the project is not registered, SANDBOX_UNAVAILABLE if its commands share no loopback. */
  listPorts(request: ProjectRequest): Promise<PortsResponse>;
  openPort(request: OpenPortRequest): Promise<OpenPortResponse>;
  /** Throws NOT_FOUND if the project is not registered or nothing has that name, ARGS_INVALID for a name that cannot be allowed. */
  changeNetwork(request: NetworkChange): Promise<NetworkState>;
  listNetwork(request: NetworkRequest): Promise<NetworkState>;
  listNetworkGroups(request: NetworkGroupsRequest): Promise<NetworkGroups>;
  readNetworkLog(request: NetworkLogRequest): Promise<NetworkLogResponse>;
  /** Throws NOT_FOUND if the project is not registered, ARGS_INVALID for a secret or binding that cannot be used. */
  setNetworkCredential(request: NetworkCredentialChange): Promise<NetworkCredentials>;
  /** Throws NOT_FOUND if nothing is bound there. */
  removeNetworkCredentials(request: NetworkCredentialRemoval): Promise<NetworkCredentials>;
  listNetworkCredentials(request: NetworkRequest): Promise<NetworkCredentials>;
  /** The best first. Each of these throws NOT_FOUND if the project is not registered. */
  searchMemories(request: MemoryQuery): Promise<MemoryList>;
  listMemories(request: MemoryListRequest): Promise<MemoryList>;
  /** Throws NOT_FOUND, with the ids that the project does not have. */
  getMemories(request: MemoryRequest): Promise<MemoryList>;
  /** A draft that cannot be stored is refused alone. */
  addMemories(request: NewMemories): Promise<AddedMemories>;
  rateMemory(request: MemoryRating): Promise<MemoryEvidence>;
  forgetMemories(request: MemoryRequest): Promise<MemoryList>;
  promoteMemory(request: MemoryRequest): Promise<MemoryList>;
  reportMemories(request: MemoryRequest): Promise<MemoryReport>;
  /** Throws NOT_FOUND if no call is meant. */
  learnFromCalls(request: LearnRequest): Promise<PendingLessons>;
  listLessons(request: ProjectRequest): Promise<PendingLessons>;
  /** Open branches first, then the newest. Throws NOT_FOUND if the project is not registered. */
  listBranches(request: ProjectRequest): Promise<BranchList>;
  /** Throws NOT_FOUND for a branch that the project does not have, or without files of its own. */
  planBranchFiles(request: BranchFilesRequest): Promise<BranchFilesPlan>;
  /** Throws CONFLICT if a file was changed on both sides; then nothing was written. */
  endBranchFiles(request: BranchFilesRequest): Promise<BranchFilesPlan>;
  /** Throws UPSTREAM_UNAVAILABLE, with the reason, if it was asked to synchronise and could not. */
  syncMemories(request: MemorySyncRequest): Promise<MemorySync>;
  /** Throws NOT_FOUND if the project is not registered, SCRUB_FAILED; then nothing is recorded. */
  takeHook(request: HookReport): Promise<HookAnswer>;
  /** Throws NOT_FOUND if no such call has changed files, SANDBOX_UNAVAILABLE if changes are not kept here. */
  planUndo(request: UndoRequest): Promise<UndoPlan>;
  /** Throws CONFLICT if a file has changed since, unless the request is partial. */
  undoChanges(request: UndoRequest): Promise<UndoPlan>;
  /** Throws ARGS_INVALID for a name or note that is too long, STORAGE_FULL; then nothing is saved. */
  saveCheckpoint(request: NewCheckpoint): Promise<CheckpointItem>;
  listCheckpoints(request: CheckpointRequest): Promise<CheckpointList>;
  /** Throws NOT_FOUND, VERSION_MISMATCH for a newer one, INTEGRITY_FAILED for a damaged one. */
  readCheckpoint(request: CheckpointRequest): Promise<CheckpointText>;
  exportCheckpoint(request: CheckpointRequest): Promise<CheckpointText>;
  /** Throws SCHEMA_INVALID for another file, and what readCheckpoint throws. */
  importCheckpoint(request: ImportedCheckpoint): Promise<CheckpointItem>;
  /** Throws TOOL_NOT_FOUND. Open to the proxy too: it is an rpc of ToolService. */
  /** The version of the tool that the project at `root` accepted; of another, or of no project, any version. */
  getSchema(tool: string, root: string): Promise<SchemaResponse>;
}
