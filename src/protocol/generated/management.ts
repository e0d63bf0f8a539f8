import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AcceptQuarantinedRequest as _contextd_v1_AcceptQuarantinedRequest, AcceptQuarantinedRequest__Output as _contextd_v1_AcceptQuarantinedRequest__Output } from './contextd/v1/AcceptQuarantinedRequest.ts';
import type { AcceptToolRequest as _contextd_v1_AcceptToolRequest, AcceptToolRequest__Output as _contextd_v1_AcceptToolRequest__Output } from './contextd/v1/AcceptToolRequest.ts';
import type { AcceptedContent as _contextd_v1_AcceptedContent, AcceptedContent__Output as _contextd_v1_AcceptedContent__Output } from './contextd/v1/AcceptedContent.ts';
import type { AddedMemories as _contextd_v1_AddedMemories, AddedMemories__Output as _contextd_v1_AddedMemories__Output } from './contextd/v1/AddedMemories.ts';
import type { AddedMemory as _contextd_v1_AddedMemory, AddedMemory__Output as _contextd_v1_AddedMemory__Output } from './contextd/v1/AddedMemory.ts';
import type { AllowValueRequest as _contextd_v1_AllowValueRequest, AllowValueRequest__Output as _contextd_v1_AllowValueRequest__Output } from './contextd/v1/AllowValueRequest.ts';
import type { AllowedValue as _contextd_v1_AllowedValue, AllowedValue__Output as _contextd_v1_AllowedValue__Output } from './contextd/v1/AllowedValue.ts';
import type { AllowedValues as _contextd_v1_AllowedValues, AllowedValues__Output as _contextd_v1_AllowedValues__Output } from './contextd/v1/AllowedValues.ts';
import type { ApproveRulesRequest as _contextd_v1_ApproveRulesRequest, ApproveRulesRequest__Output as _contextd_v1_ApproveRulesRequest__Output } from './contextd/v1/ApproveRulesRequest.ts';
import type { AuditRequest as _contextd_v1_AuditRequest, AuditRequest__Output as _contextd_v1_AuditRequest__Output } from './contextd/v1/AuditRequest.ts';
import type { AuditResponse as _contextd_v1_AuditResponse, AuditResponse__Output as _contextd_v1_AuditResponse__Output } from './contextd/v1/AuditResponse.ts';
import type { BranchFile as _contextd_v1_BranchFile, BranchFile__Output as _contextd_v1_BranchFile__Output } from './contextd/v1/BranchFile.ts';
import type { BranchFilesPlan as _contextd_v1_BranchFilesPlan, BranchFilesPlan__Output as _contextd_v1_BranchFilesPlan__Output } from './contextd/v1/BranchFilesPlan.ts';
import type { BranchFilesRequest as _contextd_v1_BranchFilesRequest, BranchFilesRequest__Output as _contextd_v1_BranchFilesRequest__Output } from './contextd/v1/BranchFilesRequest.ts';
import type { BranchInfo as _contextd_v1_BranchInfo, BranchInfo__Output as _contextd_v1_BranchInfo__Output } from './contextd/v1/BranchInfo.ts';
import type { BranchList as _contextd_v1_BranchList, BranchList__Output as _contextd_v1_BranchList__Output } from './contextd/v1/BranchList.ts';
import type { CachesRequest as _contextd_v1_CachesRequest, CachesRequest__Output as _contextd_v1_CachesRequest__Output } from './contextd/v1/CachesRequest.ts';
import type { CachesResponse as _contextd_v1_CachesResponse, CachesResponse__Output as _contextd_v1_CachesResponse__Output } from './contextd/v1/CachesResponse.ts';
import type { CheckpointItem as _contextd_v1_CheckpointItem, CheckpointItem__Output as _contextd_v1_CheckpointItem__Output } from './contextd/v1/CheckpointItem.ts';
import type { CheckpointList as _contextd_v1_CheckpointList, CheckpointList__Output as _contextd_v1_CheckpointList__Output } from './contextd/v1/CheckpointList.ts';
import type { CheckpointRequest as _contextd_v1_CheckpointRequest, CheckpointRequest__Output as _contextd_v1_CheckpointRequest__Output } from './contextd/v1/CheckpointRequest.ts';
import type { CheckpointText as _contextd_v1_CheckpointText, CheckpointText__Output as _contextd_v1_CheckpointText__Output } from './contextd/v1/CheckpointText.ts';
import type { DisallowValueRequest as _contextd_v1_DisallowValueRequest, DisallowValueRequest__Output as _contextd_v1_DisallowValueRequest__Output } from './contextd/v1/DisallowValueRequest.ts';
import type { EndSessionResponse as _contextd_v1_EndSessionResponse, EndSessionResponse__Output as _contextd_v1_EndSessionResponse__Output } from './contextd/v1/EndSessionResponse.ts';
import type { HandedIn as _contextd_v1_HandedIn, HandedIn__Output as _contextd_v1_HandedIn__Output } from './contextd/v1/HandedIn.ts';
import type { HealthCheck as _contextd_v1_HealthCheck, HealthCheck__Output as _contextd_v1_HealthCheck__Output } from './contextd/v1/HealthCheck.ts';
import type { HealthRequest as _contextd_v1_HealthRequest, HealthRequest__Output as _contextd_v1_HealthRequest__Output } from './contextd/v1/HealthRequest.ts';
import type { HealthResponse as _contextd_v1_HealthResponse, HealthResponse__Output as _contextd_v1_HealthResponse__Output } from './contextd/v1/HealthResponse.ts';
import type { HookAnswer as _contextd_v1_HookAnswer, HookAnswer__Output as _contextd_v1_HookAnswer__Output } from './contextd/v1/HookAnswer.ts';
import type { HookReport as _contextd_v1_HookReport, HookReport__Output as _contextd_v1_HookReport__Output } from './contextd/v1/HookReport.ts';
import type { HostNetwork as _contextd_v1_HostNetwork, HostNetwork__Output as _contextd_v1_HostNetwork__Output } from './contextd/v1/HostNetwork.ts';
import type { HostNetworkRequest as _contextd_v1_HostNetworkRequest, HostNetworkRequest__Output as _contextd_v1_HostNetworkRequest__Output } from './contextd/v1/HostNetworkRequest.ts';
import type { ImportedCheckpoint as _contextd_v1_ImportedCheckpoint, ImportedCheckpoint__Output as _contextd_v1_ImportedCheckpoint__Output } from './contextd/v1/ImportedCheckpoint.ts';
import type { InstallEvent as _contextd_v1_InstallEvent, InstallEvent__Output as _contextd_v1_InstallEvent__Output } from './contextd/v1/InstallEvent.ts';
import type { InstallProgress as _contextd_v1_InstallProgress, InstallProgress__Output as _contextd_v1_InstallProgress__Output } from './contextd/v1/InstallProgress.ts';
import type { InstallRequest as _contextd_v1_InstallRequest, InstallRequest__Output as _contextd_v1_InstallRequest__Output } from './contextd/v1/InstallRequest.ts';
import type { KillRequest as _contextd_v1_KillRequest, KillRequest__Output as _contextd_v1_KillRequest__Output } from './contextd/v1/KillRequest.ts';
import type { LearnRequest as _contextd_v1_LearnRequest, LearnRequest__Output as _contextd_v1_LearnRequest__Output } from './contextd/v1/LearnRequest.ts';
import type { ListRequest as _contextd_v1_ListRequest, ListRequest__Output as _contextd_v1_ListRequest__Output } from './contextd/v1/ListRequest.ts';
import type { ListResponse as _contextd_v1_ListResponse, ListResponse__Output as _contextd_v1_ListResponse__Output } from './contextd/v1/ListResponse.ts';
import type { ListeningPort as _contextd_v1_ListeningPort, ListeningPort__Output as _contextd_v1_ListeningPort__Output } from './contextd/v1/ListeningPort.ts';
import type { ManagementServiceClient as _contextd_v1_ManagementServiceClient, ManagementServiceDefinition as _contextd_v1_ManagementServiceDefinition } from './contextd/v1/ManagementService.ts';
import type { MemoryEvidence as _contextd_v1_MemoryEvidence, MemoryEvidence__Output as _contextd_v1_MemoryEvidence__Output } from './contextd/v1/MemoryEvidence.ts';
import type { MemoryFeedback as _contextd_v1_MemoryFeedback, MemoryFeedback__Output as _contextd_v1_MemoryFeedback__Output } from './contextd/v1/MemoryFeedback.ts';
import type { MemoryItem as _contextd_v1_MemoryItem, MemoryItem__Output as _contextd_v1_MemoryItem__Output } from './contextd/v1/MemoryItem.ts';
import type { MemoryLift as _contextd_v1_MemoryLift, MemoryLift__Output as _contextd_v1_MemoryLift__Output } from './contextd/v1/MemoryLift.ts';
import type { MemoryList as _contextd_v1_MemoryList, MemoryList__Output as _contextd_v1_MemoryList__Output } from './contextd/v1/MemoryList.ts';
import type { MemoryListRequest as _contextd_v1_MemoryListRequest, MemoryListRequest__Output as _contextd_v1_MemoryListRequest__Output } from './contextd/v1/MemoryListRequest.ts';
import type { MemoryQuery as _contextd_v1_MemoryQuery, MemoryQuery__Output as _contextd_v1_MemoryQuery__Output } from './contextd/v1/MemoryQuery.ts';
import type { MemoryRating as _contextd_v1_MemoryRating, MemoryRating__Output as _contextd_v1_MemoryRating__Output } from './contextd/v1/MemoryRating.ts';
import type { MemoryReport as _contextd_v1_MemoryReport, MemoryReport__Output as _contextd_v1_MemoryReport__Output } from './contextd/v1/MemoryReport.ts';
import type { MemoryRequest as _contextd_v1_MemoryRequest, MemoryRequest__Output as _contextd_v1_MemoryRequest__Output } from './contextd/v1/MemoryRequest.ts';
import type { MemorySync as _contextd_v1_MemorySync, MemorySync__Output as _contextd_v1_MemorySync__Output } from './contextd/v1/MemorySync.ts';
import type { MemorySyncRequest as _contextd_v1_MemorySyncRequest, MemorySyncRequest__Output as _contextd_v1_MemorySyncRequest__Output } from './contextd/v1/MemorySyncRequest.ts';
import type { NetworkChange as _contextd_v1_NetworkChange, NetworkChange__Output as _contextd_v1_NetworkChange__Output } from './contextd/v1/NetworkChange.ts';
import type { NetworkCredentialChange as _contextd_v1_NetworkCredentialChange, NetworkCredentialChange__Output as _contextd_v1_NetworkCredentialChange__Output } from './contextd/v1/NetworkCredentialChange.ts';
import type { NetworkCredentialInfo as _contextd_v1_NetworkCredentialInfo, NetworkCredentialInfo__Output as _contextd_v1_NetworkCredentialInfo__Output } from './contextd/v1/NetworkCredentialInfo.ts';
import type { NetworkCredentialRemoval as _contextd_v1_NetworkCredentialRemoval, NetworkCredentialRemoval__Output as _contextd_v1_NetworkCredentialRemoval__Output } from './contextd/v1/NetworkCredentialRemoval.ts';
import type { NetworkCredentials as _contextd_v1_NetworkCredentials, NetworkCredentials__Output as _contextd_v1_NetworkCredentials__Output } from './contextd/v1/NetworkCredentials.ts';
import type { NetworkGroup as _contextd_v1_NetworkGroup, NetworkGroup__Output as _contextd_v1_NetworkGroup__Output } from './contextd/v1/NetworkGroup.ts';
import type { NetworkGroups as _contextd_v1_NetworkGroups, NetworkGroups__Output as _contextd_v1_NetworkGroups__Output } from './contextd/v1/NetworkGroups.ts';
import type { NetworkGroupsRequest as _contextd_v1_NetworkGroupsRequest, NetworkGroupsRequest__Output as _contextd_v1_NetworkGroupsRequest__Output } from './contextd/v1/NetworkGroupsRequest.ts';
import type { NetworkLogEntry as _contextd_v1_NetworkLogEntry, NetworkLogEntry__Output as _contextd_v1_NetworkLogEntry__Output } from './contextd/v1/NetworkLogEntry.ts';
import type { NetworkLogRequest as _contextd_v1_NetworkLogRequest, NetworkLogRequest__Output as _contextd_v1_NetworkLogRequest__Output } from './contextd/v1/NetworkLogRequest.ts';
import type { NetworkLogResponse as _contextd_v1_NetworkLogResponse, NetworkLogResponse__Output as _contextd_v1_NetworkLogResponse__Output } from './contextd/v1/NetworkLogResponse.ts';
import type { NetworkRequest as _contextd_v1_NetworkRequest, NetworkRequest__Output as _contextd_v1_NetworkRequest__Output } from './contextd/v1/NetworkRequest.ts';
import type { NetworkRuleInfo as _contextd_v1_NetworkRuleInfo, NetworkRuleInfo__Output as _contextd_v1_NetworkRuleInfo__Output } from './contextd/v1/NetworkRuleInfo.ts';
import type { NetworkState as _contextd_v1_NetworkState, NetworkState__Output as _contextd_v1_NetworkState__Output } from './contextd/v1/NetworkState.ts';
import type { NetworkToolInfo as _contextd_v1_NetworkToolInfo, NetworkToolInfo__Output as _contextd_v1_NetworkToolInfo__Output } from './contextd/v1/NetworkToolInfo.ts';
import type { NewCheckpoint as _contextd_v1_NewCheckpoint, NewCheckpoint__Output as _contextd_v1_NewCheckpoint__Output } from './contextd/v1/NewCheckpoint.ts';
import type { NewMemories as _contextd_v1_NewMemories, NewMemories__Output as _contextd_v1_NewMemories__Output } from './contextd/v1/NewMemories.ts';
import type { OpenPortRequest as _contextd_v1_OpenPortRequest, OpenPortRequest__Output as _contextd_v1_OpenPortRequest__Output } from './contextd/v1/OpenPortRequest.ts';
import type { OpenPortResponse as _contextd_v1_OpenPortResponse, OpenPortResponse__Output as _contextd_v1_OpenPortResponse__Output } from './contextd/v1/OpenPortResponse.ts';
import type { PathList as _contextd_v1_PathList, PathList__Output as _contextd_v1_PathList__Output } from './contextd/v1/PathList.ts';
import type { PathRequest as _contextd_v1_PathRequest, PathRequest__Output as _contextd_v1_PathRequest__Output } from './contextd/v1/PathRequest.ts';
import type { PendingLesson as _contextd_v1_PendingLesson, PendingLesson__Output as _contextd_v1_PendingLesson__Output } from './contextd/v1/PendingLesson.ts';
import type { PendingLessons as _contextd_v1_PendingLessons, PendingLessons__Output as _contextd_v1_PendingLessons__Output } from './contextd/v1/PendingLessons.ts';
import type { PortsResponse as _contextd_v1_PortsResponse, PortsResponse__Output as _contextd_v1_PortsResponse__Output } from './contextd/v1/PortsResponse.ts';
import type { PrivateHost as _contextd_v1_PrivateHost, PrivateHost__Output as _contextd_v1_PrivateHost__Output } from './contextd/v1/PrivateHost.ts';
import type { ProjectCaches as _contextd_v1_ProjectCaches, ProjectCaches__Output as _contextd_v1_ProjectCaches__Output } from './contextd/v1/ProjectCaches.ts';
import type { ProjectRequest as _contextd_v1_ProjectRequest, ProjectRequest__Output as _contextd_v1_ProjectRequest__Output } from './contextd/v1/ProjectRequest.ts';
import type { ProjectResponse as _contextd_v1_ProjectResponse, ProjectResponse__Output as _contextd_v1_ProjectResponse__Output } from './contextd/v1/ProjectResponse.ts';
import type { ProjectTools as _contextd_v1_ProjectTools, ProjectTools__Output as _contextd_v1_ProjectTools__Output } from './contextd/v1/ProjectTools.ts';
import type { QuarantineRequest as _contextd_v1_QuarantineRequest, QuarantineRequest__Output as _contextd_v1_QuarantineRequest__Output } from './contextd/v1/QuarantineRequest.ts';
import type { QuarantineResponse as _contextd_v1_QuarantineResponse, QuarantineResponse__Output as _contextd_v1_QuarantineResponse__Output } from './contextd/v1/QuarantineResponse.ts';
import type { QuarantinedItem as _contextd_v1_QuarantinedItem, QuarantinedItem__Output as _contextd_v1_QuarantinedItem__Output } from './contextd/v1/QuarantinedItem.ts';
import type { ReadySandboxes as _contextd_v1_ReadySandboxes, ReadySandboxes__Output as _contextd_v1_ReadySandboxes__Output } from './contextd/v1/ReadySandboxes.ts';
import type { RegistrySetting as _contextd_v1_RegistrySetting, RegistrySetting__Output as _contextd_v1_RegistrySetting__Output } from './contextd/v1/RegistrySetting.ts';
import type { ReplayedContext as _contextd_v1_ReplayedContext, ReplayedContext__Output as _contextd_v1_ReplayedContext__Output } from './contextd/v1/ReplayedContext.ts';
import type { RevealedSecret as _contextd_v1_RevealedSecret, RevealedSecret__Output as _contextd_v1_RevealedSecret__Output } from './contextd/v1/RevealedSecret.ts';
import type { RollbackToolRequest as _contextd_v1_RollbackToolRequest, RollbackToolRequest__Output as _contextd_v1_RollbackToolRequest__Output } from './contextd/v1/RollbackToolRequest.ts';
import type { RulesReview as _contextd_v1_RulesReview, RulesReview__Output as _contextd_v1_RulesReview__Output } from './contextd/v1/RulesReview.ts';
import type { RunningItem as _contextd_v1_RunningItem, RunningItem__Output as _contextd_v1_RunningItem__Output } from './contextd/v1/RunningItem.ts';
import type { RunningRequest as _contextd_v1_RunningRequest, RunningRequest__Output as _contextd_v1_RunningRequest__Output } from './contextd/v1/RunningRequest.ts';
import type { RunningResponse as _contextd_v1_RunningResponse, RunningResponse__Output as _contextd_v1_RunningResponse__Output } from './contextd/v1/RunningResponse.ts';
import type { SandboxStatus as _contextd_v1_SandboxStatus, SandboxStatus__Output as _contextd_v1_SandboxStatus__Output } from './contextd/v1/SandboxStatus.ts';
import type { SandboxTotals as _contextd_v1_SandboxTotals, SandboxTotals__Output as _contextd_v1_SandboxTotals__Output } from './contextd/v1/SandboxTotals.ts';
import type { SecretRequest as _contextd_v1_SecretRequest, SecretRequest__Output as _contextd_v1_SecretRequest__Output } from './contextd/v1/SecretRequest.ts';
import type { SecretSummary as _contextd_v1_SecretSummary, SecretSummary__Output as _contextd_v1_SecretSummary__Output } from './contextd/v1/SecretSummary.ts';
import type { SessionContext as _contextd_v1_SessionContext, SessionContext__Output as _contextd_v1_SessionContext__Output } from './contextd/v1/SessionContext.ts';
import type { SessionContextRequest as _contextd_v1_SessionContextRequest, SessionContextRequest__Output as _contextd_v1_SessionContextRequest__Output } from './contextd/v1/SessionContextRequest.ts';
import type { SessionEvent as _contextd_v1_SessionEvent, SessionEvent__Output as _contextd_v1_SessionEvent__Output } from './contextd/v1/SessionEvent.ts';
import type { SessionEvents as _contextd_v1_SessionEvents, SessionEvents__Output as _contextd_v1_SessionEvents__Output } from './contextd/v1/SessionEvents.ts';
import type { SessionEventsRequest as _contextd_v1_SessionEventsRequest, SessionEventsRequest__Output as _contextd_v1_SessionEventsRequest__Output } from './contextd/v1/SessionEventsRequest.ts';
import type { SessionList as _contextd_v1_SessionList, SessionList__Output as _contextd_v1_SessionList__Output } from './contextd/v1/SessionList.ts';
import type { SessionReplay as _contextd_v1_SessionReplay, SessionReplay__Output as _contextd_v1_SessionReplay__Output } from './contextd/v1/SessionReplay.ts';
import type { SessionRequest as _contextd_v1_SessionRequest, SessionRequest__Output as _contextd_v1_SessionRequest__Output } from './contextd/v1/SessionRequest.ts';
import type { SessionSecretsResponse as _contextd_v1_SessionSecretsResponse, SessionSecretsResponse__Output as _contextd_v1_SessionSecretsResponse__Output } from './contextd/v1/SessionSecretsResponse.ts';
import type { SessionSummary as _contextd_v1_SessionSummary, SessionSummary__Output as _contextd_v1_SessionSummary__Output } from './contextd/v1/SessionSummary.ts';
import type { StatsRequest as _contextd_v1_StatsRequest, StatsRequest__Output as _contextd_v1_StatsRequest__Output } from './contextd/v1/StatsRequest.ts';
import type { StatsResponse as _contextd_v1_StatsResponse, StatsResponse__Output as _contextd_v1_StatsResponse__Output } from './contextd/v1/StatsResponse.ts';
import type { StatsRow as _contextd_v1_StatsRow, StatsRow__Output as _contextd_v1_StatsRow__Output } from './contextd/v1/StatsRow.ts';
import type { StatusRequest as _contextd_v1_StatusRequest, StatusRequest__Output as _contextd_v1_StatusRequest__Output } from './contextd/v1/StatusRequest.ts';
import type { StatusResponse as _contextd_v1_StatusResponse, StatusResponse__Output as _contextd_v1_StatusResponse__Output } from './contextd/v1/StatusResponse.ts';
import type { StopRequest as _contextd_v1_StopRequest, StopRequest__Output as _contextd_v1_StopRequest__Output } from './contextd/v1/StopRequest.ts';
import type { StopResponse as _contextd_v1_StopResponse, StopResponse__Output as _contextd_v1_StopResponse__Output } from './contextd/v1/StopResponse.ts';
import type { ToolInfo as _contextd_v1_ToolInfo, ToolInfo__Output as _contextd_v1_ToolInfo__Output } from './contextd/v1/ToolInfo.ts';
import type { ToolOrigin as _contextd_v1_ToolOrigin, ToolOrigin__Output as _contextd_v1_ToolOrigin__Output } from './contextd/v1/ToolOrigin.ts';
import type { ToolPlan as _contextd_v1_ToolPlan, ToolPlan__Output as _contextd_v1_ToolPlan__Output } from './contextd/v1/ToolPlan.ts';
import type { ToolRequest as _contextd_v1_ToolRequest, ToolRequest__Output as _contextd_v1_ToolRequest__Output } from './contextd/v1/ToolRequest.ts';
import type { Toolchain as _contextd_v1_Toolchain, Toolchain__Output as _contextd_v1_Toolchain__Output } from './contextd/v1/Toolchain.ts';
import type { ToolchainList as _contextd_v1_ToolchainList, ToolchainList__Output as _contextd_v1_ToolchainList__Output } from './contextd/v1/ToolchainList.ts';
import type { ToolchainRequest as _contextd_v1_ToolchainRequest, ToolchainRequest__Output as _contextd_v1_ToolchainRequest__Output } from './contextd/v1/ToolchainRequest.ts';
import type { UndoFile as _contextd_v1_UndoFile, UndoFile__Output as _contextd_v1_UndoFile__Output } from './contextd/v1/UndoFile.ts';
import type { UndoPlan as _contextd_v1_UndoPlan, UndoPlan__Output as _contextd_v1_UndoPlan__Output } from './contextd/v1/UndoPlan.ts';
import type { UndoRequest as _contextd_v1_UndoRequest, UndoRequest__Output as _contextd_v1_UndoRequest__Output } from './contextd/v1/UndoRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      AcceptQuarantinedRequest: MessageTypeDefinition<_contextd_v1_AcceptQuarantinedRequest, _contextd_v1_AcceptQuarantinedRequest__Output>
      AcceptToolRequest: MessageTypeDefinition<_contextd_v1_AcceptToolRequest, _contextd_v1_AcceptToolRequest__Output>
      AcceptedContent: MessageTypeDefinition<_contextd_v1_AcceptedContent, _contextd_v1_AcceptedContent__Output>
      AddedMemories: MessageTypeDefinition<_contextd_v1_AddedMemories, _contextd_v1_AddedMemories__Output>
      AddedMemory: MessageTypeDefinition<_contextd_v1_AddedMemory, _contextd_v1_AddedMemory__Output>
      AllowValueRequest: MessageTypeDefinition<_contextd_v1_AllowValueRequest, _contextd_v1_AllowValueRequest__Output>
      AllowedValue: MessageTypeDefinition<_contextd_v1_AllowedValue, _contextd_v1_AllowedValue__Output>
      AllowedValues: MessageTypeDefinition<_contextd_v1_AllowedValues, _contextd_v1_AllowedValues__Output>
      ApproveRulesRequest: MessageTypeDefinition<_contextd_v1_ApproveRulesRequest, _contextd_v1_ApproveRulesRequest__Output>
      AuditRequest: MessageTypeDefinition<_contextd_v1_AuditRequest, _contextd_v1_AuditRequest__Output>
      AuditResponse: MessageTypeDefinition<_contextd_v1_AuditResponse, _contextd_v1_AuditResponse__Output>
      BranchFile: MessageTypeDefinition<_contextd_v1_BranchFile, _contextd_v1_BranchFile__Output>
      BranchFilesPlan: MessageTypeDefinition<_contextd_v1_BranchFilesPlan, _contextd_v1_BranchFilesPlan__Output>
      BranchFilesRequest: MessageTypeDefinition<_contextd_v1_BranchFilesRequest, _contextd_v1_BranchFilesRequest__Output>
      BranchInfo: MessageTypeDefinition<_contextd_v1_BranchInfo, _contextd_v1_BranchInfo__Output>
      BranchList: MessageTypeDefinition<_contextd_v1_BranchList, _contextd_v1_BranchList__Output>
      CachesRequest: MessageTypeDefinition<_contextd_v1_CachesRequest, _contextd_v1_CachesRequest__Output>
      CachesResponse: MessageTypeDefinition<_contextd_v1_CachesResponse, _contextd_v1_CachesResponse__Output>
      CheckpointItem: MessageTypeDefinition<_contextd_v1_CheckpointItem, _contextd_v1_CheckpointItem__Output>
      CheckpointList: MessageTypeDefinition<_contextd_v1_CheckpointList, _contextd_v1_CheckpointList__Output>
      CheckpointRequest: MessageTypeDefinition<_contextd_v1_CheckpointRequest, _contextd_v1_CheckpointRequest__Output>
      CheckpointText: MessageTypeDefinition<_contextd_v1_CheckpointText, _contextd_v1_CheckpointText__Output>
      DisallowValueRequest: MessageTypeDefinition<_contextd_v1_DisallowValueRequest, _contextd_v1_DisallowValueRequest__Output>
      EndSessionResponse: MessageTypeDefinition<_contextd_v1_EndSessionResponse, _contextd_v1_EndSessionResponse__Output>
      HandedIn: MessageTypeDefinition<_contextd_v1_HandedIn, _contextd_v1_HandedIn__Output>
      HealthCheck: MessageTypeDefinition<_contextd_v1_HealthCheck, _contextd_v1_HealthCheck__Output>
      HealthRequest: MessageTypeDefinition<_contextd_v1_HealthRequest, _contextd_v1_HealthRequest__Output>
      HealthResponse: MessageTypeDefinition<_contextd_v1_HealthResponse, _contextd_v1_HealthResponse__Output>
      HookAnswer: MessageTypeDefinition<_contextd_v1_HookAnswer, _contextd_v1_HookAnswer__Output>
      HookReport: MessageTypeDefinition<_contextd_v1_HookReport, _contextd_v1_HookReport__Output>
      HostNetwork: MessageTypeDefinition<_contextd_v1_HostNetwork, _contextd_v1_HostNetwork__Output>
      HostNetworkRequest: MessageTypeDefinition<_contextd_v1_HostNetworkRequest, _contextd_v1_HostNetworkRequest__Output>
      ImportedCheckpoint: MessageTypeDefinition<_contextd_v1_ImportedCheckpoint, _contextd_v1_ImportedCheckpoint__Output>
      InstallEvent: MessageTypeDefinition<_contextd_v1_InstallEvent, _contextd_v1_InstallEvent__Output>
      InstallProgress: MessageTypeDefinition<_contextd_v1_InstallProgress, _contextd_v1_InstallProgress__Output>
      InstallRequest: MessageTypeDefinition<_contextd_v1_InstallRequest, _contextd_v1_InstallRequest__Output>
      KillRequest: MessageTypeDefinition<_contextd_v1_KillRequest, _contextd_v1_KillRequest__Output>
      LearnRequest: MessageTypeDefinition<_contextd_v1_LearnRequest, _contextd_v1_LearnRequest__Output>
      ListRequest: MessageTypeDefinition<_contextd_v1_ListRequest, _contextd_v1_ListRequest__Output>
      ListResponse: MessageTypeDefinition<_contextd_v1_ListResponse, _contextd_v1_ListResponse__Output>
      ListeningPort: MessageTypeDefinition<_contextd_v1_ListeningPort, _contextd_v1_ListeningPort__Output>
      /**
       * ManagementService serves ctxd. The server accepts only the CLI's certificate.
       */
      ManagementService: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ManagementServiceClient> & { service: _contextd_v1_ManagementServiceDefinition }
      MemoryEvidence: MessageTypeDefinition<_contextd_v1_MemoryEvidence, _contextd_v1_MemoryEvidence__Output>
      MemoryFeedback: MessageTypeDefinition<_contextd_v1_MemoryFeedback, _contextd_v1_MemoryFeedback__Output>
      MemoryItem: MessageTypeDefinition<_contextd_v1_MemoryItem, _contextd_v1_MemoryItem__Output>
      MemoryLift: MessageTypeDefinition<_contextd_v1_MemoryLift, _contextd_v1_MemoryLift__Output>
      MemoryList: MessageTypeDefinition<_contextd_v1_MemoryList, _contextd_v1_MemoryList__Output>
      MemoryListRequest: MessageTypeDefinition<_contextd_v1_MemoryListRequest, _contextd_v1_MemoryListRequest__Output>
      MemoryQuery: MessageTypeDefinition<_contextd_v1_MemoryQuery, _contextd_v1_MemoryQuery__Output>
      MemoryRating: MessageTypeDefinition<_contextd_v1_MemoryRating, _contextd_v1_MemoryRating__Output>
      MemoryReport: MessageTypeDefinition<_contextd_v1_MemoryReport, _contextd_v1_MemoryReport__Output>
      MemoryRequest: MessageTypeDefinition<_contextd_v1_MemoryRequest, _contextd_v1_MemoryRequest__Output>
      MemorySync: MessageTypeDefinition<_contextd_v1_MemorySync, _contextd_v1_MemorySync__Output>
      MemorySyncRequest: MessageTypeDefinition<_contextd_v1_MemorySyncRequest, _contextd_v1_MemorySyncRequest__Output>
      NetworkChange: MessageTypeDefinition<_contextd_v1_NetworkChange, _contextd_v1_NetworkChange__Output>
      NetworkCredentialChange: MessageTypeDefinition<_contextd_v1_NetworkCredentialChange, _contextd_v1_NetworkCredentialChange__Output>
      NetworkCredentialInfo: MessageTypeDefinition<_contextd_v1_NetworkCredentialInfo, _contextd_v1_NetworkCredentialInfo__Output>
      NetworkCredentialRemoval: MessageTypeDefinition<_contextd_v1_NetworkCredentialRemoval, _contextd_v1_NetworkCredentialRemoval__Output>
      NetworkCredentials: MessageTypeDefinition<_contextd_v1_NetworkCredentials, _contextd_v1_NetworkCredentials__Output>
      NetworkGroup: MessageTypeDefinition<_contextd_v1_NetworkGroup, _contextd_v1_NetworkGroup__Output>
      NetworkGroups: MessageTypeDefinition<_contextd_v1_NetworkGroups, _contextd_v1_NetworkGroups__Output>
      NetworkGroupsRequest: MessageTypeDefinition<_contextd_v1_NetworkGroupsRequest, _contextd_v1_NetworkGroupsRequest__Output>
      NetworkLogEntry: MessageTypeDefinition<_contextd_v1_NetworkLogEntry, _contextd_v1_NetworkLogEntry__Output>
      NetworkLogRequest: MessageTypeDefinition<_contextd_v1_NetworkLogRequest, _contextd_v1_NetworkLogRequest__Output>
      NetworkLogResponse: MessageTypeDefinition<_contextd_v1_NetworkLogResponse, _contextd_v1_NetworkLogResponse__Output>
      NetworkRequest: MessageTypeDefinition<_contextd_v1_NetworkRequest, _contextd_v1_NetworkRequest__Output>
      NetworkRuleInfo: MessageTypeDefinition<_contextd_v1_NetworkRuleInfo, _contextd_v1_NetworkRuleInfo__Output>
      NetworkState: MessageTypeDefinition<_contextd_v1_NetworkState, _contextd_v1_NetworkState__Output>
      NetworkToolInfo: MessageTypeDefinition<_contextd_v1_NetworkToolInfo, _contextd_v1_NetworkToolInfo__Output>
      NewCheckpoint: MessageTypeDefinition<_contextd_v1_NewCheckpoint, _contextd_v1_NewCheckpoint__Output>
      NewMemories: MessageTypeDefinition<_contextd_v1_NewMemories, _contextd_v1_NewMemories__Output>
      OpenPortRequest: MessageTypeDefinition<_contextd_v1_OpenPortRequest, _contextd_v1_OpenPortRequest__Output>
      OpenPortResponse: MessageTypeDefinition<_contextd_v1_OpenPortResponse, _contextd_v1_OpenPortResponse__Output>
      PathList: MessageTypeDefinition<_contextd_v1_PathList, _contextd_v1_PathList__Output>
      PathRequest: MessageTypeDefinition<_contextd_v1_PathRequest, _contextd_v1_PathRequest__Output>
      PendingLesson: MessageTypeDefinition<_contextd_v1_PendingLesson, _contextd_v1_PendingLesson__Output>
      PendingLessons: MessageTypeDefinition<_contextd_v1_PendingLessons, _contextd_v1_PendingLessons__Output>
      PortsResponse: MessageTypeDefinition<_contextd_v1_PortsResponse, _contextd_v1_PortsResponse__Output>
      PrivateHost: MessageTypeDefinition<_contextd_v1_PrivateHost, _contextd_v1_PrivateHost__Output>
      ProjectCaches: MessageTypeDefinition<_contextd_v1_ProjectCaches, _contextd_v1_ProjectCaches__Output>
      ProjectRequest: MessageTypeDefinition<_contextd_v1_ProjectRequest, _contextd_v1_ProjectRequest__Output>
      ProjectResponse: MessageTypeDefinition<_contextd_v1_ProjectResponse, _contextd_v1_ProjectResponse__Output>
      ProjectTools: MessageTypeDefinition<_contextd_v1_ProjectTools, _contextd_v1_ProjectTools__Output>
      QuarantineRequest: MessageTypeDefinition<_contextd_v1_QuarantineRequest, _contextd_v1_QuarantineRequest__Output>
      QuarantineResponse: MessageTypeDefinition<_contextd_v1_QuarantineResponse, _contextd_v1_QuarantineResponse__Output>
      QuarantinedItem: MessageTypeDefinition<_contextd_v1_QuarantinedItem, _contextd_v1_QuarantinedItem__Output>
      ReadySandboxes: MessageTypeDefinition<_contextd_v1_ReadySandboxes, _contextd_v1_ReadySandboxes__Output>
      RegistrySetting: MessageTypeDefinition<_contextd_v1_RegistrySetting, _contextd_v1_RegistrySetting__Output>
      ReplayedContext: MessageTypeDefinition<_contextd_v1_ReplayedContext, _contextd_v1_ReplayedContext__Output>
      RevealedSecret: MessageTypeDefinition<_contextd_v1_RevealedSecret, _contextd_v1_RevealedSecret__Output>
      RollbackToolRequest: MessageTypeDefinition<_contextd_v1_RollbackToolRequest, _contextd_v1_RollbackToolRequest__Output>
      RulesReview: MessageTypeDefinition<_contextd_v1_RulesReview, _contextd_v1_RulesReview__Output>
      RunningItem: MessageTypeDefinition<_contextd_v1_RunningItem, _contextd_v1_RunningItem__Output>
      RunningRequest: MessageTypeDefinition<_contextd_v1_RunningRequest, _contextd_v1_RunningRequest__Output>
      RunningResponse: MessageTypeDefinition<_contextd_v1_RunningResponse, _contextd_v1_RunningResponse__Output>
      SandboxStatus: MessageTypeDefinition<_contextd_v1_SandboxStatus, _contextd_v1_SandboxStatus__Output>
      SandboxTotals: MessageTypeDefinition<_contextd_v1_SandboxTotals, _contextd_v1_SandboxTotals__Output>
      SecretRequest: MessageTypeDefinition<_contextd_v1_SecretRequest, _contextd_v1_SecretRequest__Output>
      SecretSummary: MessageTypeDefinition<_contextd_v1_SecretSummary, _contextd_v1_SecretSummary__Output>
      SessionContext: MessageTypeDefinition<_contextd_v1_SessionContext, _contextd_v1_SessionContext__Output>
      SessionContextRequest: MessageTypeDefinition<_contextd_v1_SessionContextRequest, _contextd_v1_SessionContextRequest__Output>
      SessionEvent: MessageTypeDefinition<_contextd_v1_SessionEvent, _contextd_v1_SessionEvent__Output>
      SessionEvents: MessageTypeDefinition<_contextd_v1_SessionEvents, _contextd_v1_SessionEvents__Output>
      SessionEventsRequest: MessageTypeDefinition<_contextd_v1_SessionEventsRequest, _contextd_v1_SessionEventsRequest__Output>
      SessionList: MessageTypeDefinition<_contextd_v1_SessionList, _contextd_v1_SessionList__Output>
      SessionReplay: MessageTypeDefinition<_contextd_v1_SessionReplay, _contextd_v1_SessionReplay__Output>
      SessionRequest: MessageTypeDefinition<_contextd_v1_SessionRequest, _contextd_v1_SessionRequest__Output>
      SessionSecretsResponse: MessageTypeDefinition<_contextd_v1_SessionSecretsResponse, _contextd_v1_SessionSecretsResponse__Output>
      SessionSummary: MessageTypeDefinition<_contextd_v1_SessionSummary, _contextd_v1_SessionSummary__Output>
      StatsRequest: MessageTypeDefinition<_contextd_v1_StatsRequest, _contextd_v1_StatsRequest__Output>
      StatsResponse: MessageTypeDefinition<_contextd_v1_StatsResponse, _contextd_v1_StatsResponse__Output>
      StatsRow: MessageTypeDefinition<_contextd_v1_StatsRow, _contextd_v1_StatsRow__Output>
      StatusRequest: MessageTypeDefinition<_contextd_v1_StatusRequest, _contextd_v1_StatusRequest__Output>
      StatusResponse: MessageTypeDefinition<_contextd_v1_StatusResponse, _contextd_v1_StatusResponse__Output>
      StopRequest: MessageTypeDefinition<_contextd_v1_StopRequest, _contextd_v1_StopRequest__Output>
      StopResponse: MessageTypeDefinition<_contextd_v1_StopResponse, _contextd_v1_StopResponse__Output>
      ToolInfo: MessageTypeDefinition<_contextd_v1_ToolInfo, _contextd_v1_ToolInfo__Output>
      ToolOrigin: MessageTypeDefinition<_contextd_v1_ToolOrigin, _contextd_v1_ToolOrigin__Output>
      ToolPlan: MessageTypeDefinition<_contextd_v1_ToolPlan, _contextd_v1_ToolPlan__Output>
      ToolRequest: MessageTypeDefinition<_contextd_v1_ToolRequest, _contextd_v1_ToolRequest__Output>
      Toolchain: MessageTypeDefinition<_contextd_v1_Toolchain, _contextd_v1_Toolchain__Output>
      ToolchainList: MessageTypeDefinition<_contextd_v1_ToolchainList, _contextd_v1_ToolchainList__Output>
      ToolchainRequest: MessageTypeDefinition<_contextd_v1_ToolchainRequest, _contextd_v1_ToolchainRequest__Output>
      UndoFile: MessageTypeDefinition<_contextd_v1_UndoFile, _contextd_v1_UndoFile__Output>
      UndoPlan: MessageTypeDefinition<_contextd_v1_UndoPlan, _contextd_v1_UndoPlan__Output>
      UndoRequest: MessageTypeDefinition<_contextd_v1_UndoRequest, _contextd_v1_UndoRequest__Output>
    }
  }
}

