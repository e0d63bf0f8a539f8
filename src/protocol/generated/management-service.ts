// Original file: proto/contextd/v1/management.proto

import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { AcceptQuarantinedRequest as _contextd_v1_AcceptQuarantinedRequest, AcceptQuarantinedRequest__Output as _contextd_v1_AcceptQuarantinedRequest__Output, AcceptToolRequest as _contextd_v1_AcceptToolRequest, AcceptToolRequest__Output as _contextd_v1_AcceptToolRequest__Output, AcceptedContent as _contextd_v1_AcceptedContent, AcceptedContent__Output as _contextd_v1_AcceptedContent__Output, AddedMemories as _contextd_v1_AddedMemories, AddedMemories__Output as _contextd_v1_AddedMemories__Output, AddedMemory as _contextd_v1_AddedMemory, AddedMemory__Output as _contextd_v1_AddedMemory__Output, AllowValueRequest as _contextd_v1_AllowValueRequest, AllowValueRequest__Output as _contextd_v1_AllowValueRequest__Output, AllowedValue as _contextd_v1_AllowedValue, AllowedValue__Output as _contextd_v1_AllowedValue__Output, AllowedValues as _contextd_v1_AllowedValues, AllowedValues__Output as _contextd_v1_AllowedValues__Output, AnsweredApproval as _contextd_v1_AnsweredApproval, AnsweredApproval__Output as _contextd_v1_AnsweredApproval__Output, ApprovalAnswer as _contextd_v1_ApprovalAnswer, ApprovalAnswerList as _contextd_v1_ApprovalAnswerList, ApprovalAnswerList__Output as _contextd_v1_ApprovalAnswerList__Output, ApprovalAnswer__Output as _contextd_v1_ApprovalAnswer__Output, ApprovalList as _contextd_v1_ApprovalList, ApprovalList__Output as _contextd_v1_ApprovalList__Output, ApprovalRequest as _contextd_v1_ApprovalRequest, ApprovalRequest__Output as _contextd_v1_ApprovalRequest__Output, ApprovalRuleInfo as _contextd_v1_ApprovalRuleInfo, ApprovalRuleInfo__Output as _contextd_v1_ApprovalRuleInfo__Output, ApprovalRuleList as _contextd_v1_ApprovalRuleList, ApprovalRuleList__Output as _contextd_v1_ApprovalRuleList__Output, ApproveRulesRequest as _contextd_v1_ApproveRulesRequest, ApproveRulesRequest__Output as _contextd_v1_ApproveRulesRequest__Output, AuditRequest as _contextd_v1_AuditRequest, AuditRequest__Output as _contextd_v1_AuditRequest__Output, AuditResponse as _contextd_v1_AuditResponse, AuditResponse__Output as _contextd_v1_AuditResponse__Output, AuditSegment as _contextd_v1_AuditSegment, AuditSegment__Output as _contextd_v1_AuditSegment__Output, BadLink as _contextd_v1_BadLink, BadLink__Output as _contextd_v1_BadLink__Output, BranchFile as _contextd_v1_BranchFile, BranchFile__Output as _contextd_v1_BranchFile__Output, BranchFilesPlan as _contextd_v1_BranchFilesPlan, BranchFilesPlan__Output as _contextd_v1_BranchFilesPlan__Output, BranchFilesRequest as _contextd_v1_BranchFilesRequest, BranchFilesRequest__Output as _contextd_v1_BranchFilesRequest__Output, BranchInfo as _contextd_v1_BranchInfo, BranchInfo__Output as _contextd_v1_BranchInfo__Output, BranchList as _contextd_v1_BranchList, BranchList__Output as _contextd_v1_BranchList__Output, CachesRequest as _contextd_v1_CachesRequest, CachesRequest__Output as _contextd_v1_CachesRequest__Output, CachesResponse as _contextd_v1_CachesResponse, CachesResponse__Output as _contextd_v1_CachesResponse__Output, CatalogueResponse as _contextd_v1_CatalogueResponse, CatalogueResponse__Output as _contextd_v1_CatalogueResponse__Output, CheckpointItem as _contextd_v1_CheckpointItem, CheckpointItem__Output as _contextd_v1_CheckpointItem__Output, CheckpointList as _contextd_v1_CheckpointList, CheckpointList__Output as _contextd_v1_CheckpointList__Output, CheckpointRequest as _contextd_v1_CheckpointRequest, CheckpointRequest__Output as _contextd_v1_CheckpointRequest__Output, CheckpointText as _contextd_v1_CheckpointText, CheckpointText__Output as _contextd_v1_CheckpointText__Output, CopyStateRequest as _contextd_v1_CopyStateRequest, CopyStateRequest__Output as _contextd_v1_CopyStateRequest__Output, DisallowValueRequest as _contextd_v1_DisallowValueRequest, DisallowValueRequest__Output as _contextd_v1_DisallowValueRequest__Output, EndSessionResponse as _contextd_v1_EndSessionResponse, EndSessionResponse__Output as _contextd_v1_EndSessionResponse__Output, HandedIn as _contextd_v1_HandedIn, HandedIn__Output as _contextd_v1_HandedIn__Output, HealthCheck as _contextd_v1_HealthCheck, HealthCheck__Output as _contextd_v1_HealthCheck__Output, HealthRequest as _contextd_v1_HealthRequest, HealthRequest__Output as _contextd_v1_HealthRequest__Output, HealthResponse as _contextd_v1_HealthResponse, HealthResponse__Output as _contextd_v1_HealthResponse__Output, HookAnswer as _contextd_v1_HookAnswer, HookAnswer__Output as _contextd_v1_HookAnswer__Output, HookReport as _contextd_v1_HookReport, HookReport__Output as _contextd_v1_HookReport__Output, HostNetwork as _contextd_v1_HostNetwork, HostNetworkRequest as _contextd_v1_HostNetworkRequest, HostNetworkRequest__Output as _contextd_v1_HostNetworkRequest__Output, HostNetwork__Output as _contextd_v1_HostNetwork__Output, HttpChallenge as _contextd_v1_HttpChallenge, HttpChallenge__Output as _contextd_v1_HttpChallenge__Output, HttpStanding as _contextd_v1_HttpStanding, HttpStanding__Output as _contextd_v1_HttpStanding__Output, HttpToken as _contextd_v1_HttpToken, HttpTokenList as _contextd_v1_HttpTokenList, HttpTokenList__Output as _contextd_v1_HttpTokenList__Output, HttpTokenRequest as _contextd_v1_HttpTokenRequest, HttpTokenRequest__Output as _contextd_v1_HttpTokenRequest__Output, HttpToken__Output as _contextd_v1_HttpToken__Output, HttpTokensRequest as _contextd_v1_HttpTokensRequest, HttpTokensRequest__Output as _contextd_v1_HttpTokensRequest__Output, ImportedCheckpoint as _contextd_v1_ImportedCheckpoint, ImportedCheckpoint__Output as _contextd_v1_ImportedCheckpoint__Output, InstallEvent as _contextd_v1_InstallEvent, InstallEvent__Output as _contextd_v1_InstallEvent__Output, InstallProgress as _contextd_v1_InstallProgress, InstallProgress__Output as _contextd_v1_InstallProgress__Output, InstallRequest as _contextd_v1_InstallRequest, InstallRequest__Output as _contextd_v1_InstallRequest__Output, KeptApproval as _contextd_v1_KeptApproval, KeptApproval__Output as _contextd_v1_KeptApproval__Output, KillRequest as _contextd_v1_KillRequest, KillRequest__Output as _contextd_v1_KillRequest__Output, KindLift as _contextd_v1_KindLift, KindLift__Output as _contextd_v1_KindLift__Output, LearnRequest as _contextd_v1_LearnRequest, LearnRequest__Output as _contextd_v1_LearnRequest__Output, ListRequest as _contextd_v1_ListRequest, ListRequest__Output as _contextd_v1_ListRequest__Output, ListResponse as _contextd_v1_ListResponse, ListResponse__Output as _contextd_v1_ListResponse__Output, ListeningPort as _contextd_v1_ListeningPort, ListeningPort__Output as _contextd_v1_ListeningPort__Output, MadeHttpToken as _contextd_v1_MadeHttpToken, MadeHttpToken__Output as _contextd_v1_MadeHttpToken__Output, MemoryEvidence as _contextd_v1_MemoryEvidence, MemoryEvidence__Output as _contextd_v1_MemoryEvidence__Output, MemoryFeedback as _contextd_v1_MemoryFeedback, MemoryFeedback__Output as _contextd_v1_MemoryFeedback__Output, MemoryItem as _contextd_v1_MemoryItem, MemoryItem__Output as _contextd_v1_MemoryItem__Output, MemoryLift as _contextd_v1_MemoryLift, MemoryLift__Output as _contextd_v1_MemoryLift__Output, MemoryList as _contextd_v1_MemoryList, MemoryListRequest as _contextd_v1_MemoryListRequest, MemoryListRequest__Output as _contextd_v1_MemoryListRequest__Output, MemoryList__Output as _contextd_v1_MemoryList__Output, MemoryQuery as _contextd_v1_MemoryQuery, MemoryQuery__Output as _contextd_v1_MemoryQuery__Output, MemoryRating as _contextd_v1_MemoryRating, MemoryRating__Output as _contextd_v1_MemoryRating__Output, MemoryReport as _contextd_v1_MemoryReport, MemoryReport__Output as _contextd_v1_MemoryReport__Output, MemoryRequest as _contextd_v1_MemoryRequest, MemoryRequest__Output as _contextd_v1_MemoryRequest__Output, MemorySync as _contextd_v1_MemorySync, MemorySyncRequest as _contextd_v1_MemorySyncRequest, MemorySyncRequest__Output as _contextd_v1_MemorySyncRequest__Output, MemorySync__Output as _contextd_v1_MemorySync__Output, NetworkChange as _contextd_v1_NetworkChange, NetworkChange__Output as _contextd_v1_NetworkChange__Output, NetworkCredentialChange as _contextd_v1_NetworkCredentialChange, NetworkCredentialChange__Output as _contextd_v1_NetworkCredentialChange__Output, NetworkCredentialInfo as _contextd_v1_NetworkCredentialInfo, NetworkCredentialInfo__Output as _contextd_v1_NetworkCredentialInfo__Output, NetworkCredentialRemoval as _contextd_v1_NetworkCredentialRemoval, NetworkCredentialRemoval__Output as _contextd_v1_NetworkCredentialRemoval__Output, NetworkCredentials as _contextd_v1_NetworkCredentials, NetworkCredentials__Output as _contextd_v1_NetworkCredentials__Output, NetworkGroup as _contextd_v1_NetworkGroup, NetworkGroup__Output as _contextd_v1_NetworkGroup__Output, NetworkGroups as _contextd_v1_NetworkGroups, NetworkGroupsRequest as _contextd_v1_NetworkGroupsRequest, NetworkGroupsRequest__Output as _contextd_v1_NetworkGroupsRequest__Output, NetworkGroups__Output as _contextd_v1_NetworkGroups__Output, NetworkLogEntry as _contextd_v1_NetworkLogEntry, NetworkLogEntry__Output as _contextd_v1_NetworkLogEntry__Output, NetworkLogRequest as _contextd_v1_NetworkLogRequest, NetworkLogRequest__Output as _contextd_v1_NetworkLogRequest__Output, NetworkLogResponse as _contextd_v1_NetworkLogResponse, NetworkLogResponse__Output as _contextd_v1_NetworkLogResponse__Output, NetworkRequest as _contextd_v1_NetworkRequest, NetworkRequest__Output as _contextd_v1_NetworkRequest__Output, NetworkRuleInfo as _contextd_v1_NetworkRuleInfo, NetworkRuleInfo__Output as _contextd_v1_NetworkRuleInfo__Output, NetworkState as _contextd_v1_NetworkState, NetworkState__Output as _contextd_v1_NetworkState__Output, NetworkToolInfo as _contextd_v1_NetworkToolInfo, NetworkToolInfo__Output as _contextd_v1_NetworkToolInfo__Output, NewApprovalRule as _contextd_v1_NewApprovalRule, NewApprovalRule__Output as _contextd_v1_NewApprovalRule__Output, NewCheckpoint as _contextd_v1_NewCheckpoint, NewCheckpoint__Output as _contextd_v1_NewCheckpoint__Output, NewHttpToken as _contextd_v1_NewHttpToken, NewHttpToken__Output as _contextd_v1_NewHttpToken__Output, NewMemories as _contextd_v1_NewMemories, NewMemories__Output as _contextd_v1_NewMemories__Output, NewUpstream as _contextd_v1_NewUpstream, NewUpstream__Output as _contextd_v1_NewUpstream__Output, OpenPortRequest as _contextd_v1_OpenPortRequest, OpenPortRequest__Output as _contextd_v1_OpenPortRequest__Output, OpenPortResponse as _contextd_v1_OpenPortResponse, OpenPortResponse__Output as _contextd_v1_OpenPortResponse__Output, PathList as _contextd_v1_PathList, PathList__Output as _contextd_v1_PathList__Output, PathRequest as _contextd_v1_PathRequest, PathRequest__Output as _contextd_v1_PathRequest__Output, PendingLesson as _contextd_v1_PendingLesson, PendingLesson__Output as _contextd_v1_PendingLesson__Output, PendingLessons as _contextd_v1_PendingLessons, PendingLessons__Output as _contextd_v1_PendingLessons__Output, PortsResponse as _contextd_v1_PortsResponse, PortsResponse__Output as _contextd_v1_PortsResponse__Output, PrivateHost as _contextd_v1_PrivateHost, PrivateHost__Output as _contextd_v1_PrivateHost__Output, ProjectCaches as _contextd_v1_ProjectCaches, ProjectCaches__Output as _contextd_v1_ProjectCaches__Output, ProjectRequest as _contextd_v1_ProjectRequest, ProjectRequest__Output as _contextd_v1_ProjectRequest__Output, ProjectResponse as _contextd_v1_ProjectResponse, ProjectResponse__Output as _contextd_v1_ProjectResponse__Output, ProjectTools as _contextd_v1_ProjectTools, ProjectTools__Output as _contextd_v1_ProjectTools__Output, QuarantineRequest as _contextd_v1_QuarantineRequest, QuarantineRequest__Output as _contextd_v1_QuarantineRequest__Output, QuarantineResponse as _contextd_v1_QuarantineResponse, QuarantineResponse__Output as _contextd_v1_QuarantineResponse__Output, QuarantinedItem as _contextd_v1_QuarantinedItem, QuarantinedItem__Output as _contextd_v1_QuarantinedItem__Output, ReadySandboxes as _contextd_v1_ReadySandboxes, ReadySandboxes__Output as _contextd_v1_ReadySandboxes__Output, RecordSettingsRequest as _contextd_v1_RecordSettingsRequest, RecordSettingsRequest__Output as _contextd_v1_RecordSettingsRequest__Output, RecordedSettings as _contextd_v1_RecordedSettings, RecordedSettings__Output as _contextd_v1_RecordedSettings__Output, RegistrySetting as _contextd_v1_RegistrySetting, RegistrySetting__Output as _contextd_v1_RegistrySetting__Output, ReplayedContext as _contextd_v1_ReplayedContext, ReplayedContext__Output as _contextd_v1_ReplayedContext__Output, RestartRequest as _contextd_v1_RestartRequest, RestartRequest__Output as _contextd_v1_RestartRequest__Output, RestartResponse as _contextd_v1_RestartResponse, RestartResponse__Output as _contextd_v1_RestartResponse__Output, RevealedSecret as _contextd_v1_RevealedSecret, RevealedSecret__Output as _contextd_v1_RevealedSecret__Output, RollbackToolRequest as _contextd_v1_RollbackToolRequest, RollbackToolRequest__Output as _contextd_v1_RollbackToolRequest__Output, RulesReview as _contextd_v1_RulesReview, RulesReview__Output as _contextd_v1_RulesReview__Output, RunningItem as _contextd_v1_RunningItem, RunningItem__Output as _contextd_v1_RunningItem__Output, RunningRequest as _contextd_v1_RunningRequest, RunningRequest__Output as _contextd_v1_RunningRequest__Output, RunningResponse as _contextd_v1_RunningResponse, RunningResponse__Output as _contextd_v1_RunningResponse__Output, SandboxStatus as _contextd_v1_SandboxStatus, SandboxStatus__Output as _contextd_v1_SandboxStatus__Output, SandboxTotals as _contextd_v1_SandboxTotals, SandboxTotals__Output as _contextd_v1_SandboxTotals__Output, SecretRequest as _contextd_v1_SecretRequest, SecretRequest__Output as _contextd_v1_SecretRequest__Output, SecretSummary as _contextd_v1_SecretSummary, SecretSummary__Output as _contextd_v1_SecretSummary__Output, SessionContext as _contextd_v1_SessionContext, SessionContextRequest as _contextd_v1_SessionContextRequest, SessionContextRequest__Output as _contextd_v1_SessionContextRequest__Output, SessionContext__Output as _contextd_v1_SessionContext__Output, SessionEvent as _contextd_v1_SessionEvent, SessionEvent__Output as _contextd_v1_SessionEvent__Output, SessionEvents as _contextd_v1_SessionEvents, SessionEventsRequest as _contextd_v1_SessionEventsRequest, SessionEventsRequest__Output as _contextd_v1_SessionEventsRequest__Output, SessionEvents__Output as _contextd_v1_SessionEvents__Output, SessionList as _contextd_v1_SessionList, SessionList__Output as _contextd_v1_SessionList__Output, SessionReplay as _contextd_v1_SessionReplay, SessionReplay__Output as _contextd_v1_SessionReplay__Output, SessionRequest as _contextd_v1_SessionRequest, SessionRequest__Output as _contextd_v1_SessionRequest__Output, SessionSecretsResponse as _contextd_v1_SessionSecretsResponse, SessionSecretsResponse__Output as _contextd_v1_SessionSecretsResponse__Output, SessionSummary as _contextd_v1_SessionSummary, SessionSummary__Output as _contextd_v1_SessionSummary__Output, StateCopy as _contextd_v1_StateCopy, StateCopy__Output as _contextd_v1_StateCopy__Output, StatsRequest as _contextd_v1_StatsRequest, StatsRequest__Output as _contextd_v1_StatsRequest__Output, StatsResponse as _contextd_v1_StatsResponse, StatsResponse__Output as _contextd_v1_StatsResponse__Output, StatsRow as _contextd_v1_StatsRow, StatsRow__Output as _contextd_v1_StatsRow__Output, StatusRequest as _contextd_v1_StatusRequest, StatusRequest__Output as _contextd_v1_StatusRequest__Output, StatusResponse as _contextd_v1_StatusResponse, StatusResponse__Output as _contextd_v1_StatusResponse__Output, StepLatency as _contextd_v1_StepLatency, StepLatency__Output as _contextd_v1_StepLatency__Output, StopRequest as _contextd_v1_StopRequest, StopRequest__Output as _contextd_v1_StopRequest__Output, StopResponse as _contextd_v1_StopResponse, StopResponse__Output as _contextd_v1_StopResponse__Output, ToolChoice as _contextd_v1_ToolChoice, ToolChoice__Output as _contextd_v1_ToolChoice__Output, ToolInfo as _contextd_v1_ToolInfo, ToolInfo__Output as _contextd_v1_ToolInfo__Output, ToolOrigin as _contextd_v1_ToolOrigin, ToolOrigin__Output as _contextd_v1_ToolOrigin__Output, ToolPlan as _contextd_v1_ToolPlan, ToolPlan__Output as _contextd_v1_ToolPlan__Output, ToolRequest as _contextd_v1_ToolRequest, ToolRequest__Output as _contextd_v1_ToolRequest__Output, Toolchain as _contextd_v1_Toolchain, ToolchainList as _contextd_v1_ToolchainList, ToolchainList__Output as _contextd_v1_ToolchainList__Output, ToolchainRequest as _contextd_v1_ToolchainRequest, ToolchainRequest__Output as _contextd_v1_ToolchainRequest__Output, Toolchain__Output as _contextd_v1_Toolchain__Output, UndoCall as _contextd_v1_UndoCall, UndoCall__Output as _contextd_v1_UndoCall__Output, UndoCalls as _contextd_v1_UndoCalls, UndoCalls__Output as _contextd_v1_UndoCalls__Output, UndoFile as _contextd_v1_UndoFile, UndoFile__Output as _contextd_v1_UndoFile__Output, UndoPlan as _contextd_v1_UndoPlan, UndoPlan__Output as _contextd_v1_UndoPlan__Output, UndoRequest as _contextd_v1_UndoRequest, UndoRequest__Output as _contextd_v1_UndoRequest__Output, UpstreamApproval as _contextd_v1_UpstreamApproval, UpstreamApproval__Output as _contextd_v1_UpstreamApproval__Output, UpstreamChange as _contextd_v1_UpstreamChange, UpstreamChange__Output as _contextd_v1_UpstreamChange__Output, UpstreamInfo as _contextd_v1_UpstreamInfo, UpstreamInfo__Output as _contextd_v1_UpstreamInfo__Output, UpstreamList as _contextd_v1_UpstreamList, UpstreamList__Output as _contextd_v1_UpstreamList__Output, UpstreamPath as _contextd_v1_UpstreamPath, UpstreamPath__Output as _contextd_v1_UpstreamPath__Output, UpstreamRequest as _contextd_v1_UpstreamRequest, UpstreamRequest__Output as _contextd_v1_UpstreamRequest__Output, UpstreamReview as _contextd_v1_UpstreamReview, UpstreamReview__Output as _contextd_v1_UpstreamReview__Output, UpstreamVariable as _contextd_v1_UpstreamVariable, UpstreamVariable__Output as _contextd_v1_UpstreamVariable__Output, WaitingApproval as _contextd_v1_WaitingApproval, WaitingApproval__Output as _contextd_v1_WaitingApproval__Output } from './management.ts';

/**
 * ManagementService serves ctxd. The server accepts only the CLI's certificate.
 */
export interface ManagementServiceClient extends grpc.Client {
  AcceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  AcceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  AcceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  AcceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  acceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  acceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  acceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  acceptQuarantined(argument: _contextd_v1_AcceptQuarantinedRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;

  AcceptTool(argument: _contextd_v1_AcceptToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  AcceptTool(argument: _contextd_v1_AcceptToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  AcceptTool(argument: _contextd_v1_AcceptToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  AcceptTool(argument: _contextd_v1_AcceptToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  acceptTool(argument: _contextd_v1_AcceptToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  acceptTool(argument: _contextd_v1_AcceptToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  acceptTool(argument: _contextd_v1_AcceptToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  acceptTool(argument: _contextd_v1_AcceptToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;

  /**
   * AddApprovalRule makes a rule that asks; RemoveApprovalRule removes one with its answers.
   */
  AddApprovalRule(argument: _contextd_v1_NewApprovalRule, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  AddApprovalRule(argument: _contextd_v1_NewApprovalRule, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  AddApprovalRule(argument: _contextd_v1_NewApprovalRule, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  AddApprovalRule(argument: _contextd_v1_NewApprovalRule, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  /**
   * AddApprovalRule makes a rule that asks; RemoveApprovalRule removes one with its answers.
   */
  addApprovalRule(argument: _contextd_v1_NewApprovalRule, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  addApprovalRule(argument: _contextd_v1_NewApprovalRule, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  addApprovalRule(argument: _contextd_v1_NewApprovalRule, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  addApprovalRule(argument: _contextd_v1_NewApprovalRule, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;

  AddMemories(argument: _contextd_v1_NewMemories, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  AddMemories(argument: _contextd_v1_NewMemories, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  AddMemories(argument: _contextd_v1_NewMemories, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  AddMemories(argument: _contextd_v1_NewMemories, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  addMemories(argument: _contextd_v1_NewMemories, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  addMemories(argument: _contextd_v1_NewMemories, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  addMemories(argument: _contextd_v1_NewMemories, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;
  addMemories(argument: _contextd_v1_NewMemories, callback: grpc.requestCallback<_contextd_v1_AddedMemories__Output>): grpc.ClientUnaryCall;

  /**
   * AddUpstream adds an MCP server to a project and starts it; with dry_run it only checks the request. ListUpstreams lists the
   * servers, RemoveUpstream takes one out, and RestartUpstream starts one again.
   */
  AddUpstream(argument: _contextd_v1_NewUpstream, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  AddUpstream(argument: _contextd_v1_NewUpstream, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  AddUpstream(argument: _contextd_v1_NewUpstream, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  AddUpstream(argument: _contextd_v1_NewUpstream, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  /**
   * AddUpstream adds an MCP server to a project and starts it; with dry_run it only checks the request. ListUpstreams lists the
   * servers, RemoveUpstream takes one out, and RestartUpstream starts one again.
   */
  addUpstream(argument: _contextd_v1_NewUpstream, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  addUpstream(argument: _contextd_v1_NewUpstream, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  addUpstream(argument: _contextd_v1_NewUpstream, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  addUpstream(argument: _contextd_v1_NewUpstream, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;

  /**
   * AllowPath lets commands of a project write a directory outside it; DisallowPath undoes that. ListPaths lists them.
   */
  AllowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  AllowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  AllowPath(argument: _contextd_v1_PathRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  AllowPath(argument: _contextd_v1_PathRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  /**
   * AllowPath lets commands of a project write a directory outside it; DisallowPath undoes that. ListPaths lists them.
   */
  allowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  allowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  allowPath(argument: _contextd_v1_PathRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  allowPath(argument: _contextd_v1_PathRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;

  /**
   * AllowValue records that a value is no secret, by its HMAC. DisallowValue takes this back.
   */
  AllowValue(argument: _contextd_v1_AllowValueRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  AllowValue(argument: _contextd_v1_AllowValueRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  AllowValue(argument: _contextd_v1_AllowValueRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  AllowValue(argument: _contextd_v1_AllowValueRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  /**
   * AllowValue records that a value is no secret, by its HMAC. DisallowValue takes this back.
   */
  allowValue(argument: _contextd_v1_AllowValueRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  allowValue(argument: _contextd_v1_AllowValueRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  allowValue(argument: _contextd_v1_AllowValueRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  allowValue(argument: _contextd_v1_AllowValueRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;

  AnswerApproval(argument: _contextd_v1_ApprovalAnswer, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  AnswerApproval(argument: _contextd_v1_ApprovalAnswer, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  AnswerApproval(argument: _contextd_v1_ApprovalAnswer, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  AnswerApproval(argument: _contextd_v1_ApprovalAnswer, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  answerApproval(argument: _contextd_v1_ApprovalAnswer, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  answerApproval(argument: _contextd_v1_ApprovalAnswer, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  answerApproval(argument: _contextd_v1_ApprovalAnswer, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;
  answerApproval(argument: _contextd_v1_ApprovalAnswer, callback: grpc.requestCallback<_contextd_v1_AnsweredApproval__Output>): grpc.ClientUnaryCall;

  ApproveRules(argument: _contextd_v1_ApproveRulesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ApproveRules(argument: _contextd_v1_ApproveRulesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ApproveRules(argument: _contextd_v1_ApproveRulesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ApproveRules(argument: _contextd_v1_ApproveRulesRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  approveRules(argument: _contextd_v1_ApproveRulesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  approveRules(argument: _contextd_v1_ApproveRulesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  approveRules(argument: _contextd_v1_ApproveRulesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  approveRules(argument: _contextd_v1_ApproveRulesRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;

  ApproveUpstream(argument: _contextd_v1_UpstreamApproval, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ApproveUpstream(argument: _contextd_v1_UpstreamApproval, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ApproveUpstream(argument: _contextd_v1_UpstreamApproval, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ApproveUpstream(argument: _contextd_v1_UpstreamApproval, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  approveUpstream(argument: _contextd_v1_UpstreamApproval, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  approveUpstream(argument: _contextd_v1_UpstreamApproval, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  approveUpstream(argument: _contextd_v1_UpstreamApproval, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  approveUpstream(argument: _contextd_v1_UpstreamApproval, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;

  /**
   * ChangeNetwork changes what programs may reach; with dry_run it only says what it would change. ListNetwork lists what
   * a person decided, ListNetworkGroups the named groups, and ReadNetworkLog who talked to whom.
   */
  ChangeNetwork(argument: _contextd_v1_NetworkChange, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ChangeNetwork(argument: _contextd_v1_NetworkChange, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ChangeNetwork(argument: _contextd_v1_NetworkChange, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ChangeNetwork(argument: _contextd_v1_NetworkChange, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  /**
   * ChangeNetwork changes what programs may reach; with dry_run it only says what it would change. ListNetwork lists what
   * a person decided, ListNetworkGroups the named groups, and ReadNetworkLog who talked to whom.
   */
  changeNetwork(argument: _contextd_v1_NetworkChange, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  changeNetwork(argument: _contextd_v1_NetworkChange, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  changeNetwork(argument: _contextd_v1_NetworkChange, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  changeNetwork(argument: _contextd_v1_NetworkChange, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;

  /**
   * CheckHealth tests the running parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  CheckHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  /**
   * CheckHealth tests the running parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  checkHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;

  ClearCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ClearCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ClearCaches(argument: _contextd_v1_CachesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ClearCaches(argument: _contextd_v1_CachesRequest, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  clearCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  clearCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  clearCaches(argument: _contextd_v1_CachesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  clearCaches(argument: _contextd_v1_CachesRequest, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;

  /**
   * CopyState copies the databases for a backup, which ctxd then makes of them.
   */
  CopyState(argument: _contextd_v1_CopyStateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  CopyState(argument: _contextd_v1_CopyStateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  CopyState(argument: _contextd_v1_CopyStateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  CopyState(argument: _contextd_v1_CopyStateRequest, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  /**
   * CopyState copies the databases for a backup, which ctxd then makes of them.
   */
  copyState(argument: _contextd_v1_CopyStateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  copyState(argument: _contextd_v1_CopyStateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  copyState(argument: _contextd_v1_CopyStateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;
  copyState(argument: _contextd_v1_CopyStateRequest, callback: grpc.requestCallback<_contextd_v1_StateCopy__Output>): grpc.ClientUnaryCall;

  DisallowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  DisallowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  DisallowPath(argument: _contextd_v1_PathRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  DisallowPath(argument: _contextd_v1_PathRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  disallowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  disallowPath(argument: _contextd_v1_PathRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  disallowPath(argument: _contextd_v1_PathRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  disallowPath(argument: _contextd_v1_PathRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;

  DisallowValue(argument: _contextd_v1_DisallowValueRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  DisallowValue(argument: _contextd_v1_DisallowValueRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  DisallowValue(argument: _contextd_v1_DisallowValueRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  DisallowValue(argument: _contextd_v1_DisallowValueRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  disallowValue(argument: _contextd_v1_DisallowValueRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  disallowValue(argument: _contextd_v1_DisallowValueRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  disallowValue(argument: _contextd_v1_DisallowValueRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  disallowValue(argument: _contextd_v1_DisallowValueRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;

  EndBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  EndBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  EndBranchFiles(argument: _contextd_v1_BranchFilesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  EndBranchFiles(argument: _contextd_v1_BranchFilesRequest, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  endBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  endBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  endBranchFiles(argument: _contextd_v1_BranchFilesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  endBranchFiles(argument: _contextd_v1_BranchFilesRequest, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;

  /**
   * EndSession ends a session: its jobs are stopped, and what contextd keeps for it is removed.
   */
  EndSession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  EndSession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  EndSession(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  EndSession(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  /**
   * EndSession ends a session: its jobs are stopped, and what contextd keeps for it is removed.
   */
  endSession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  endSession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  endSession(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;
  endSession(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_EndSessionResponse__Output>): grpc.ClientUnaryCall;

  ExportCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ExportCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ExportCheckpoint(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ExportCheckpoint(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  exportCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  exportCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  exportCheckpoint(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  exportCheckpoint(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;

  ForgetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ForgetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ForgetMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ForgetMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  forgetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  forgetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  forgetMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  forgetMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;

  GetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  GetMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  GetMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  GetMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  getMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  getMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  getMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  getMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;

  /**
   * HttpStatus reports where the HTTP door listens, and what the listener there must answer to a challenge.
   */
  HttpStatus(argument: _contextd_v1_HttpChallenge, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  HttpStatus(argument: _contextd_v1_HttpChallenge, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  HttpStatus(argument: _contextd_v1_HttpChallenge, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  HttpStatus(argument: _contextd_v1_HttpChallenge, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  /**
   * HttpStatus reports where the HTTP door listens, and what the listener there must answer to a challenge.
   */
  httpStatus(argument: _contextd_v1_HttpChallenge, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  httpStatus(argument: _contextd_v1_HttpChallenge, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  httpStatus(argument: _contextd_v1_HttpChallenge, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;
  httpStatus(argument: _contextd_v1_HttpChallenge, callback: grpc.requestCallback<_contextd_v1_HttpStanding__Output>): grpc.ClientUnaryCall;

  /**
   * ImportCheckpoint gives the session the checkpoint of an exported file.
   */
  ImportCheckpoint(argument: _contextd_v1_ImportedCheckpoint, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  ImportCheckpoint(argument: _contextd_v1_ImportedCheckpoint, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  ImportCheckpoint(argument: _contextd_v1_ImportedCheckpoint, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  ImportCheckpoint(argument: _contextd_v1_ImportedCheckpoint, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  /**
   * ImportCheckpoint gives the session the checkpoint of an exported file.
   */
  importCheckpoint(argument: _contextd_v1_ImportedCheckpoint, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  importCheckpoint(argument: _contextd_v1_ImportedCheckpoint, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  importCheckpoint(argument: _contextd_v1_ImportedCheckpoint, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  importCheckpoint(argument: _contextd_v1_ImportedCheckpoint, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;

  InspectSession(argument: _contextd_v1_SessionContextRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  InspectSession(argument: _contextd_v1_SessionContextRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  InspectSession(argument: _contextd_v1_SessionContextRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  InspectSession(argument: _contextd_v1_SessionContextRequest, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  inspectSession(argument: _contextd_v1_SessionContextRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  inspectSession(argument: _contextd_v1_SessionContextRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  inspectSession(argument: _contextd_v1_SessionContextRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;
  inspectSession(argument: _contextd_v1_SessionContextRequest, callback: grpc.requestCallback<_contextd_v1_SessionContext__Output>): grpc.ClientUnaryCall;

  /**
   * InstallTool fetches a tool and checks it, and ends with a plan; nothing of it can run yet. AcceptTool lets a project use
   * what was planned, RollbackTool the version before, and RemoveTool takes a tool out of a project.
   */
  InstallTool(argument: _contextd_v1_InstallRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_InstallEvent__Output>;
  InstallTool(argument: _contextd_v1_InstallRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_InstallEvent__Output>;
  /**
   * InstallTool fetches a tool and checks it, and ends with a plan; nothing of it can run yet. AcceptTool lets a project use
   * what was planned, RollbackTool the version before, and RemoveTool takes a tool out of a project.
   */
  installTool(argument: _contextd_v1_InstallRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_InstallEvent__Output>;
  installTool(argument: _contextd_v1_InstallRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_InstallEvent__Output>;

  KillRunning(argument: _contextd_v1_KillRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  KillRunning(argument: _contextd_v1_KillRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  KillRunning(argument: _contextd_v1_KillRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  KillRunning(argument: _contextd_v1_KillRequest, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  killRunning(argument: _contextd_v1_KillRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  killRunning(argument: _contextd_v1_KillRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  killRunning(argument: _contextd_v1_KillRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  killRunning(argument: _contextd_v1_KillRequest, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;

  /**
   * LearnFromCalls makes memories of recorded calls later, and ListLessons returns what waits for that or has failed.
   */
  LearnFromCalls(argument: _contextd_v1_LearnRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  LearnFromCalls(argument: _contextd_v1_LearnRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  LearnFromCalls(argument: _contextd_v1_LearnRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  LearnFromCalls(argument: _contextd_v1_LearnRequest, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  /**
   * LearnFromCalls makes memories of recorded calls later, and ListLessons returns what waits for that or has failed.
   */
  learnFromCalls(argument: _contextd_v1_LearnRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  learnFromCalls(argument: _contextd_v1_LearnRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  learnFromCalls(argument: _contextd_v1_LearnRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  learnFromCalls(argument: _contextd_v1_LearnRequest, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;

  ListAllowedValues(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  ListAllowedValues(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  ListAllowedValues(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  ListAllowedValues(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  listAllowedValues(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  listAllowedValues(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  listAllowedValues(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;
  listAllowedValues(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_AllowedValues__Output>): grpc.ClientUnaryCall;

  /**
   * ListApprovalAnswers lists the answers that are kept; RemoveApprovalAnswer takes one back.
   */
  ListApprovalAnswers(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  ListApprovalAnswers(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  ListApprovalAnswers(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  ListApprovalAnswers(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  /**
   * ListApprovalAnswers lists the answers that are kept; RemoveApprovalAnswer takes one back.
   */
  listApprovalAnswers(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  listApprovalAnswers(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  listApprovalAnswers(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  listApprovalAnswers(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;

  ListApprovalRules(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  ListApprovalRules(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  ListApprovalRules(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  ListApprovalRules(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  listApprovalRules(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  listApprovalRules(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  listApprovalRules(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  listApprovalRules(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;

  /**
   * ListApprovals lists the calls that wait for a person. AnswerApproval answers one, or a rule before a call asks.
   */
  ListApprovals(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  ListApprovals(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  ListApprovals(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  ListApprovals(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  /**
   * ListApprovals lists the calls that wait for a person. AnswerApproval answers one, or a rule before a call asks.
   */
  listApprovals(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  listApprovals(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  listApprovals(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;
  listApprovals(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalList__Output>): grpc.ClientUnaryCall;

  /**
   * ListBranches lists the branches of a project's sessions, open and closed.
   */
  ListBranches(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  ListBranches(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  ListBranches(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  ListBranches(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  /**
   * ListBranches lists the branches of a project's sessions, open and closed.
   */
  listBranches(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  listBranches(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  listBranches(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;
  listBranches(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_BranchList__Output>): grpc.ClientUnaryCall;

  /**
   * ListCaches lists what the commands of each project keep outside it, ClearCaches empties it.
   */
  ListCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ListCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ListCaches(argument: _contextd_v1_CachesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  ListCaches(argument: _contextd_v1_CachesRequest, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  /**
   * ListCaches lists what the commands of each project keep outside it, ClearCaches empties it.
   */
  listCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  listCaches(argument: _contextd_v1_CachesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  listCaches(argument: _contextd_v1_CachesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;
  listCaches(argument: _contextd_v1_CachesRequest, callback: grpc.requestCallback<_contextd_v1_CachesResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ListCheckpoints returns the checkpoints of a project, the newest first.
   */
  ListCheckpoints(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  ListCheckpoints(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  ListCheckpoints(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  ListCheckpoints(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  /**
   * ListCheckpoints returns the checkpoints of a project, the newest first.
   */
  listCheckpoints(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  listCheckpoints(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  listCheckpoints(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;
  listCheckpoints(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointList__Output>): grpc.ClientUnaryCall;

  ListHttpTokens(argument: _contextd_v1_HttpTokensRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  ListHttpTokens(argument: _contextd_v1_HttpTokensRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  ListHttpTokens(argument: _contextd_v1_HttpTokensRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  ListHttpTokens(argument: _contextd_v1_HttpTokensRequest, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  listHttpTokens(argument: _contextd_v1_HttpTokensRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  listHttpTokens(argument: _contextd_v1_HttpTokensRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  listHttpTokens(argument: _contextd_v1_HttpTokensRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  listHttpTokens(argument: _contextd_v1_HttpTokensRequest, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;

  ListLessons(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  ListLessons(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  ListLessons(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  ListLessons(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  listLessons(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  listLessons(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  listLessons(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;
  listLessons(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PendingLessons__Output>): grpc.ClientUnaryCall;

  ListMemories(argument: _contextd_v1_MemoryListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ListMemories(argument: _contextd_v1_MemoryListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ListMemories(argument: _contextd_v1_MemoryListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  ListMemories(argument: _contextd_v1_MemoryListRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  listMemories(argument: _contextd_v1_MemoryListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  listMemories(argument: _contextd_v1_MemoryListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  listMemories(argument: _contextd_v1_MemoryListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  listMemories(argument: _contextd_v1_MemoryListRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;

  ListNetwork(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ListNetwork(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ListNetwork(argument: _contextd_v1_NetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  ListNetwork(argument: _contextd_v1_NetworkRequest, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  listNetwork(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  listNetwork(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  listNetwork(argument: _contextd_v1_NetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;
  listNetwork(argument: _contextd_v1_NetworkRequest, callback: grpc.requestCallback<_contextd_v1_NetworkState__Output>): grpc.ClientUnaryCall;

  ListNetworkCredentials(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  ListNetworkCredentials(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  ListNetworkCredentials(argument: _contextd_v1_NetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  ListNetworkCredentials(argument: _contextd_v1_NetworkRequest, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  listNetworkCredentials(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  listNetworkCredentials(argument: _contextd_v1_NetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  listNetworkCredentials(argument: _contextd_v1_NetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  listNetworkCredentials(argument: _contextd_v1_NetworkRequest, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;

  ListNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  ListNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  ListNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  ListNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  listNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  listNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  listNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;
  listNetworkGroups(argument: _contextd_v1_NetworkGroupsRequest, callback: grpc.requestCallback<_contextd_v1_NetworkGroups__Output>): grpc.ClientUnaryCall;

  ListPaths(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  ListPaths(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  ListPaths(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  ListPaths(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  listPaths(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  listPaths(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  listPaths(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;
  listPaths(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PathList__Output>): grpc.ClientUnaryCall;

  /**
   * ListPorts lists what listens on the loopback that the commands of a project share. OpenPort makes one port
   * reachable for the caller.
   */
  ListPorts(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  ListPorts(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  ListPorts(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  ListPorts(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * ListPorts lists what listens on the loopback that the commands of a project share. OpenPort makes one port
   * reachable for the caller.
   */
  listPorts(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  listPorts(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  listPorts(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;
  listPorts(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_PortsResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ListQuarantine lists files that commands created in a project and that were set aside, because a program on the host
   * would run them. RestoreQuarantined restores one, RemoveQuarantined deletes one, AcceptQuarantined restores one and accepts
   * its content permanently, and RevokeAccepted revokes the acceptance.
   */
  ListQuarantine(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  ListQuarantine(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  ListQuarantine(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  ListQuarantine(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  /**
   * ListQuarantine lists files that commands created in a project and that were set aside, because a program on the host
   * would run them. RestoreQuarantined restores one, RemoveQuarantined deletes one, AcceptQuarantined restores one and accepts
   * its content permanently, and RevokeAccepted revokes the acceptance.
   */
  listQuarantine(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  listQuarantine(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  listQuarantine(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  listQuarantine(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ListRunning lists running jobs and calls; KillRunning ends one of them.
   */
  ListRunning(argument: _contextd_v1_RunningRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  ListRunning(argument: _contextd_v1_RunningRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  ListRunning(argument: _contextd_v1_RunningRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  ListRunning(argument: _contextd_v1_RunningRequest, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  /**
   * ListRunning lists running jobs and calls; KillRunning ends one of them.
   */
  listRunning(argument: _contextd_v1_RunningRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  listRunning(argument: _contextd_v1_RunningRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  listRunning(argument: _contextd_v1_RunningRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;
  listRunning(argument: _contextd_v1_RunningRequest, callback: grpc.requestCallback<_contextd_v1_RunningResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ListSessions lists what is kept of the sessions of a project, the newest first. ReadSession returns events,
   * InspectSession the context that is made of them, and ReplaySession makes every earlier context again and compares it.
   */
  ListSessions(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  ListSessions(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  ListSessions(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  ListSessions(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  /**
   * ListSessions lists what is kept of the sessions of a project, the newest first. ReadSession returns events,
   * InspectSession the context that is made of them, and ReplaySession makes every earlier context again and compares it.
   */
  listSessions(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  listSessions(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  listSessions(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;
  listSessions(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_SessionList__Output>): grpc.ClientUnaryCall;

  ListToolchains(argument: _contextd_v1_ToolchainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  ListToolchains(argument: _contextd_v1_ToolchainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  ListToolchains(argument: _contextd_v1_ToolchainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  ListToolchains(argument: _contextd_v1_ToolchainRequest, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  listToolchains(argument: _contextd_v1_ToolchainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  listToolchains(argument: _contextd_v1_ToolchainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  listToolchains(argument: _contextd_v1_ToolchainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  listToolchains(argument: _contextd_v1_ToolchainRequest, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;

  ListTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ListUndo lists the calls that changed files. PlanUndo reports what one did and what taking it back would do; UndoChanges
   * takes it back.
   */
  ListUndo(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  ListUndo(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  ListUndo(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  ListUndo(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  /**
   * ListUndo lists the calls that changed files. PlanUndo reports what one did and what taking it back would do; UndoChanges
   * takes it back.
   */
  listUndo(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  listUndo(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  listUndo(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;
  listUndo(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_UndoCalls__Output>): grpc.ClientUnaryCall;

  ListUpstreams(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  ListUpstreams(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  ListUpstreams(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  ListUpstreams(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  listUpstreams(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  listUpstreams(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  listUpstreams(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  listUpstreams(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;

  /**
   * MakeHttpToken makes a token for the HTTP door; the daemon keeps only its hash. RevokeHttpToken ends one.
   */
  MakeHttpToken(argument: _contextd_v1_NewHttpToken, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  MakeHttpToken(argument: _contextd_v1_NewHttpToken, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  MakeHttpToken(argument: _contextd_v1_NewHttpToken, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  MakeHttpToken(argument: _contextd_v1_NewHttpToken, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  /**
   * MakeHttpToken makes a token for the HTTP door; the daemon keeps only its hash. RevokeHttpToken ends one.
   */
  makeHttpToken(argument: _contextd_v1_NewHttpToken, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  makeHttpToken(argument: _contextd_v1_NewHttpToken, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  makeHttpToken(argument: _contextd_v1_NewHttpToken, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;
  makeHttpToken(argument: _contextd_v1_NewHttpToken, callback: grpc.requestCallback<_contextd_v1_MadeHttpToken__Output>): grpc.ClientUnaryCall;

  OpenPort(argument: _contextd_v1_OpenPortRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  OpenPort(argument: _contextd_v1_OpenPortRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  OpenPort(argument: _contextd_v1_OpenPortRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  OpenPort(argument: _contextd_v1_OpenPortRequest, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  openPort(argument: _contextd_v1_OpenPortRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  openPort(argument: _contextd_v1_OpenPortRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  openPort(argument: _contextd_v1_OpenPortRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;
  openPort(argument: _contextd_v1_OpenPortRequest, callback: grpc.requestCallback<_contextd_v1_OpenPortResponse__Output>): grpc.ClientUnaryCall;

  /**
   * PlanBranchFiles compares the files of a branch with those of its parent; EndBranchFiles merges or discards them.
   */
  PlanBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  PlanBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  PlanBranchFiles(argument: _contextd_v1_BranchFilesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  PlanBranchFiles(argument: _contextd_v1_BranchFilesRequest, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  /**
   * PlanBranchFiles compares the files of a branch with those of its parent; EndBranchFiles merges or discards them.
   */
  planBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  planBranchFiles(argument: _contextd_v1_BranchFilesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  planBranchFiles(argument: _contextd_v1_BranchFilesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;
  planBranchFiles(argument: _contextd_v1_BranchFilesRequest, callback: grpc.requestCallback<_contextd_v1_BranchFilesPlan__Output>): grpc.ClientUnaryCall;

  PlanUndo(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  PlanUndo(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  PlanUndo(argument: _contextd_v1_UndoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  PlanUndo(argument: _contextd_v1_UndoRequest, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  planUndo(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  planUndo(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  planUndo(argument: _contextd_v1_UndoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  planUndo(argument: _contextd_v1_UndoRequest, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;

  PromoteMemory(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  PromoteMemory(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  PromoteMemory(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  PromoteMemory(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  promoteMemory(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  promoteMemory(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  promoteMemory(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  promoteMemory(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;

  /**
   * RateMemory records how work went in which a memory was used; without an outcome it only returns the evidence.
   * ForgetMemories removes memories for good, and PromoteMemory lets every project find one.
   */
  RateMemory(argument: _contextd_v1_MemoryRating, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  RateMemory(argument: _contextd_v1_MemoryRating, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  RateMemory(argument: _contextd_v1_MemoryRating, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  RateMemory(argument: _contextd_v1_MemoryRating, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  /**
   * RateMemory records how work went in which a memory was used; without an outcome it only returns the evidence.
   * ForgetMemories removes memories for good, and PromoteMemory lets every project find one.
   */
  rateMemory(argument: _contextd_v1_MemoryRating, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  rateMemory(argument: _contextd_v1_MemoryRating, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  rateMemory(argument: _contextd_v1_MemoryRating, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;
  rateMemory(argument: _contextd_v1_MemoryRating, callback: grpc.requestCallback<_contextd_v1_MemoryEvidence__Output>): grpc.ClientUnaryCall;

  /**
   * ReadCatalogue returns the tools of a project as tool_browse searches them, and what was executed after searches.
   */
  ReadCatalogue(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  ReadCatalogue(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  ReadCatalogue(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  ReadCatalogue(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  /**
   * ReadCatalogue returns the tools of a project as tool_browse searches them, and what was executed after searches.
   */
  readCatalogue(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  readCatalogue(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  readCatalogue(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;
  readCatalogue(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_CatalogueResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ReadCheckpoint returns one as text, and ExportCheckpoint as a file for another session or machine.
   */
  ReadCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ReadCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ReadCheckpoint(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  ReadCheckpoint(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  /**
   * ReadCheckpoint returns one as text, and ExportCheckpoint as a file for another session or machine.
   */
  readCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  readCheckpoint(argument: _contextd_v1_CheckpointRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  readCheckpoint(argument: _contextd_v1_CheckpointRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;
  readCheckpoint(argument: _contextd_v1_CheckpointRequest, callback: grpc.requestCallback<_contextd_v1_CheckpointText__Output>): grpc.ClientUnaryCall;

  ReadHostNetwork(argument: _contextd_v1_HostNetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  ReadHostNetwork(argument: _contextd_v1_HostNetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  ReadHostNetwork(argument: _contextd_v1_HostNetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  ReadHostNetwork(argument: _contextd_v1_HostNetworkRequest, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  readHostNetwork(argument: _contextd_v1_HostNetworkRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  readHostNetwork(argument: _contextd_v1_HostNetworkRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  readHostNetwork(argument: _contextd_v1_HostNetworkRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  readHostNetwork(argument: _contextd_v1_HostNetworkRequest, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;

  ReadNetworkLog(argument: _contextd_v1_NetworkLogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  ReadNetworkLog(argument: _contextd_v1_NetworkLogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  ReadNetworkLog(argument: _contextd_v1_NetworkLogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  ReadNetworkLog(argument: _contextd_v1_NetworkLogRequest, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  readNetworkLog(argument: _contextd_v1_NetworkLogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  readNetworkLog(argument: _contextd_v1_NetworkLogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  readNetworkLog(argument: _contextd_v1_NetworkLogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;
  readNetworkLog(argument: _contextd_v1_NetworkLogRequest, callback: grpc.requestCallback<_contextd_v1_NetworkLogResponse__Output>): grpc.ClientUnaryCall;

  ReadSession(argument: _contextd_v1_SessionEventsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  ReadSession(argument: _contextd_v1_SessionEventsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  ReadSession(argument: _contextd_v1_SessionEventsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  ReadSession(argument: _contextd_v1_SessionEventsRequest, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  readSession(argument: _contextd_v1_SessionEventsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  readSession(argument: _contextd_v1_SessionEventsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  readSession(argument: _contextd_v1_SessionEventsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;
  readSession(argument: _contextd_v1_SessionEventsRequest, callback: grpc.requestCallback<_contextd_v1_SessionEvents__Output>): grpc.ClientUnaryCall;

  /**
   * RecordSettings records which settings of the configuration file changed since it was last called, or the daemon started.
   */
  RecordSettings(argument: _contextd_v1_RecordSettingsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  RecordSettings(argument: _contextd_v1_RecordSettingsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  RecordSettings(argument: _contextd_v1_RecordSettingsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  RecordSettings(argument: _contextd_v1_RecordSettingsRequest, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  /**
   * RecordSettings records which settings of the configuration file changed since it was last called, or the daemon started.
   */
  recordSettings(argument: _contextd_v1_RecordSettingsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  recordSettings(argument: _contextd_v1_RecordSettingsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  recordSettings(argument: _contextd_v1_RecordSettingsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;
  recordSettings(argument: _contextd_v1_RecordSettingsRequest, callback: grpc.requestCallback<_contextd_v1_RecordedSettings__Output>): grpc.ClientUnaryCall;

  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject undoes that.
   */
  RegisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject undoes that.
   */
  registerProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;

  RemoveApprovalAnswer(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalAnswer(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalAnswer(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalAnswer(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  removeApprovalAnswer(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  removeApprovalAnswer(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  removeApprovalAnswer(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;
  removeApprovalAnswer(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalAnswerList__Output>): grpc.ClientUnaryCall;

  RemoveApprovalRule(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalRule(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalRule(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  RemoveApprovalRule(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  removeApprovalRule(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  removeApprovalRule(argument: _contextd_v1_ApprovalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  removeApprovalRule(argument: _contextd_v1_ApprovalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;
  removeApprovalRule(argument: _contextd_v1_ApprovalRequest, callback: grpc.requestCallback<_contextd_v1_ApprovalRuleList__Output>): grpc.ClientUnaryCall;

  RemoveNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  RemoveNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  RemoveNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  RemoveNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  removeNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  removeNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  removeNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  removeNetworkCredentials(argument: _contextd_v1_NetworkCredentialRemoval, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;

  RemoveQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RemoveQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RemoveQuarantined(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RemoveQuarantined(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  removeQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  removeQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  removeQuarantined(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  removeQuarantined(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;

  RemoveTool(argument: _contextd_v1_ToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RemoveTool(argument: _contextd_v1_ToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RemoveTool(argument: _contextd_v1_ToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RemoveTool(argument: _contextd_v1_ToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  removeTool(argument: _contextd_v1_ToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  removeTool(argument: _contextd_v1_ToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  removeTool(argument: _contextd_v1_ToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  removeTool(argument: _contextd_v1_ToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;

  RemoveUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RemoveUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RemoveUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RemoveUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  removeUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  removeUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  removeUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  removeUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;

  ReplaySession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  ReplaySession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  ReplaySession(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  ReplaySession(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  replaySession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  replaySession(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  replaySession(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;
  replaySession(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_SessionReplay__Output>): grpc.ClientUnaryCall;

  /**
   * ReportMemories returns what memories changed, by sessions in which they were found and not shown. Ids: all if empty.
   */
  ReportMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  ReportMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  ReportMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  ReportMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  /**
   * ReportMemories returns what memories changed, by sessions in which they were found and not shown. Ids: all if empty.
   */
  reportMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  reportMemories(argument: _contextd_v1_MemoryRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  reportMemories(argument: _contextd_v1_MemoryRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;
  reportMemories(argument: _contextd_v1_MemoryRequest, callback: grpc.requestCallback<_contextd_v1_MemoryReport__Output>): grpc.ClientUnaryCall;

  /**
   * RestartServer replaces the daemon by a new one, which goes on with its calls and jobs. If the new one does not start, nothing
   * has changed.
   */
  RestartServer(argument: _contextd_v1_RestartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  RestartServer(argument: _contextd_v1_RestartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  RestartServer(argument: _contextd_v1_RestartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  RestartServer(argument: _contextd_v1_RestartRequest, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  /**
   * RestartServer replaces the daemon by a new one, which goes on with its calls and jobs. If the new one does not start, nothing
   * has changed.
   */
  restartServer(argument: _contextd_v1_RestartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  restartServer(argument: _contextd_v1_RestartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  restartServer(argument: _contextd_v1_RestartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;
  restartServer(argument: _contextd_v1_RestartRequest, callback: grpc.requestCallback<_contextd_v1_RestartResponse__Output>): grpc.ClientUnaryCall;

  RestartUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RestartUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RestartUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  RestartUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  restartUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  restartUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  restartUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;
  restartUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamList__Output>): grpc.ClientUnaryCall;

  RestoreQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RestoreQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RestoreQuarantined(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RestoreQuarantined(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  restoreQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  restoreQuarantined(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  restoreQuarantined(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  restoreQuarantined(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;

  /**
   * RevealSecret returns the value behind a token, for a person. The audit log records it.
   */
  RevealSecret(argument: _contextd_v1_SecretRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  RevealSecret(argument: _contextd_v1_SecretRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  RevealSecret(argument: _contextd_v1_SecretRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  RevealSecret(argument: _contextd_v1_SecretRequest, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  /**
   * RevealSecret returns the value behind a token, for a person. The audit log records it.
   */
  revealSecret(argument: _contextd_v1_SecretRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  revealSecret(argument: _contextd_v1_SecretRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  revealSecret(argument: _contextd_v1_SecretRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;
  revealSecret(argument: _contextd_v1_SecretRequest, callback: grpc.requestCallback<_contextd_v1_RevealedSecret__Output>): grpc.ClientUnaryCall;

  /**
   * ReviewRules lists what an approval of a project's .gitleaks.toml would allow; ApproveRules allows it for
   * exactly these bytes, and RevokeRules revokes the approval.
   */
  ReviewRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ReviewRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ReviewRules(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  ReviewRules(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  /**
   * ReviewRules lists what an approval of a project's .gitleaks.toml would allow; ApproveRules allows it for
   * exactly these bytes, and RevokeRules revokes the approval.
   */
  reviewRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  reviewRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  reviewRules(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  reviewRules(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;

  /**
   * ReviewUpstream shows which tools of a server differ from those that were accepted, and ApproveUpstream accepts them.
   */
  ReviewUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ReviewUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ReviewUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  ReviewUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  /**
   * ReviewUpstream shows which tools of a server differ from those that were accepted, and ApproveUpstream accepts them.
   */
  reviewUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  reviewUpstream(argument: _contextd_v1_UpstreamRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  reviewUpstream(argument: _contextd_v1_UpstreamRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;
  reviewUpstream(argument: _contextd_v1_UpstreamRequest, callback: grpc.requestCallback<_contextd_v1_UpstreamReview__Output>): grpc.ClientUnaryCall;

  RevokeAccepted(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RevokeAccepted(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RevokeAccepted(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  RevokeAccepted(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  revokeAccepted(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  revokeAccepted(argument: _contextd_v1_QuarantineRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  revokeAccepted(argument: _contextd_v1_QuarantineRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;
  revokeAccepted(argument: _contextd_v1_QuarantineRequest, callback: grpc.requestCallback<_contextd_v1_QuarantineResponse__Output>): grpc.ClientUnaryCall;

  RevokeHttpToken(argument: _contextd_v1_HttpTokenRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  RevokeHttpToken(argument: _contextd_v1_HttpTokenRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  RevokeHttpToken(argument: _contextd_v1_HttpTokenRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  RevokeHttpToken(argument: _contextd_v1_HttpTokenRequest, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  revokeHttpToken(argument: _contextd_v1_HttpTokenRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  revokeHttpToken(argument: _contextd_v1_HttpTokenRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  revokeHttpToken(argument: _contextd_v1_HttpTokenRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;
  revokeHttpToken(argument: _contextd_v1_HttpTokenRequest, callback: grpc.requestCallback<_contextd_v1_HttpTokenList__Output>): grpc.ClientUnaryCall;

  RevokeRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  RevokeRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  RevokeRules(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  RevokeRules(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  revokeRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  revokeRules(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  revokeRules(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;
  revokeRules(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_RulesReview__Output>): grpc.ClientUnaryCall;

  RollbackTool(argument: _contextd_v1_RollbackToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RollbackTool(argument: _contextd_v1_RollbackToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RollbackTool(argument: _contextd_v1_RollbackToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  RollbackTool(argument: _contextd_v1_RollbackToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  rollbackTool(argument: _contextd_v1_RollbackToolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  rollbackTool(argument: _contextd_v1_RollbackToolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  rollbackTool(argument: _contextd_v1_RollbackToolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;
  rollbackTool(argument: _contextd_v1_RollbackToolRequest, callback: grpc.requestCallback<_contextd_v1_ProjectTools__Output>): grpc.ClientUnaryCall;

  /**
   * SaveCheckpoint saves what a session did so far.
   */
  SaveCheckpoint(argument: _contextd_v1_NewCheckpoint, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  SaveCheckpoint(argument: _contextd_v1_NewCheckpoint, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  SaveCheckpoint(argument: _contextd_v1_NewCheckpoint, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  SaveCheckpoint(argument: _contextd_v1_NewCheckpoint, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  /**
   * SaveCheckpoint saves what a session did so far.
   */
  saveCheckpoint(argument: _contextd_v1_NewCheckpoint, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  saveCheckpoint(argument: _contextd_v1_NewCheckpoint, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  saveCheckpoint(argument: _contextd_v1_NewCheckpoint, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;
  saveCheckpoint(argument: _contextd_v1_NewCheckpoint, callback: grpc.requestCallback<_contextd_v1_CheckpointItem__Output>): grpc.ClientUnaryCall;

  /**
   * SearchMemories finds memories as the tool memory_search does, with more of each. ListMemories returns them in the order
   * in which they were stored, GetMemories by their ids. AddMemories stores what a person wrote or imports.
   */
  SearchMemories(argument: _contextd_v1_MemoryQuery, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  SearchMemories(argument: _contextd_v1_MemoryQuery, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  SearchMemories(argument: _contextd_v1_MemoryQuery, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  SearchMemories(argument: _contextd_v1_MemoryQuery, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  /**
   * SearchMemories finds memories as the tool memory_search does, with more of each. ListMemories returns them in the order
   * in which they were stored, GetMemories by their ids. AddMemories stores what a person wrote or imports.
   */
  searchMemories(argument: _contextd_v1_MemoryQuery, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  searchMemories(argument: _contextd_v1_MemoryQuery, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  searchMemories(argument: _contextd_v1_MemoryQuery, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;
  searchMemories(argument: _contextd_v1_MemoryQuery, callback: grpc.requestCallback<_contextd_v1_MemoryList__Output>): grpc.ClientUnaryCall;

  ServerStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;

  /**
   * SessionSecrets lists the secrets in a session's vault, by number and without values.
   */
  SessionSecrets(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  SessionSecrets(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  SessionSecrets(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  SessionSecrets(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * SessionSecrets lists the secrets in a session's vault, by number and without values.
   */
  sessionSecrets(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  sessionSecrets(argument: _contextd_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  sessionSecrets(argument: _contextd_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;
  sessionSecrets(argument: _contextd_v1_SessionRequest, callback: grpc.requestCallback<_contextd_v1_SessionSecretsResponse__Output>): grpc.ClientUnaryCall;

  /**
   * SetHostNetwork replaces the certificates and registries of the host that commands of every project get;
   * ReadHostNetwork returns them.
   */
  SetHostNetwork(argument: _contextd_v1_HostNetwork, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  SetHostNetwork(argument: _contextd_v1_HostNetwork, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  SetHostNetwork(argument: _contextd_v1_HostNetwork, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  SetHostNetwork(argument: _contextd_v1_HostNetwork, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  /**
   * SetHostNetwork replaces the certificates and registries of the host that commands of every project get;
   * ReadHostNetwork returns them.
   */
  setHostNetwork(argument: _contextd_v1_HostNetwork, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  setHostNetwork(argument: _contextd_v1_HostNetwork, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  setHostNetwork(argument: _contextd_v1_HostNetwork, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;
  setHostNetwork(argument: _contextd_v1_HostNetwork, callback: grpc.requestCallback<_contextd_v1_HostNetwork__Output>): grpc.ClientUnaryCall;

  /**
   * SetNetworkCredential binds a secret to a host, or replaces the one of the same host and paths. No answer holds a
   * secret.
   */
  SetNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  SetNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  SetNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  SetNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  /**
   * SetNetworkCredential binds a secret to a host, or replaces the one of the same host and paths. No answer holds a
   * secret.
   */
  setNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  setNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  setNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;
  setNetworkCredential(argument: _contextd_v1_NetworkCredentialChange, callback: grpc.requestCallback<_contextd_v1_NetworkCredentials__Output>): grpc.ClientUnaryCall;

  /**
   * SetToolchains replaces the toolchains that commands of every project may read and run, and the person's PATH;
   * ListToolchains returns them.
   */
  SetToolchains(argument: _contextd_v1_ToolchainList, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  SetToolchains(argument: _contextd_v1_ToolchainList, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  SetToolchains(argument: _contextd_v1_ToolchainList, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  SetToolchains(argument: _contextd_v1_ToolchainList, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  /**
   * SetToolchains replaces the toolchains that commands of every project may read and run, and the person's PATH;
   * ListToolchains returns them.
   */
  setToolchains(argument: _contextd_v1_ToolchainList, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  setToolchains(argument: _contextd_v1_ToolchainList, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  setToolchains(argument: _contextd_v1_ToolchainList, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;
  setToolchains(argument: _contextd_v1_ToolchainList, callback: grpc.requestCallback<_contextd_v1_ToolchainList__Output>): grpc.ClientUnaryCall;

  /**
   * Stats sums up the audit log.
   */
  Stats(argument: _contextd_v1_StatsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  Stats(argument: _contextd_v1_StatsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  Stats(argument: _contextd_v1_StatsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  Stats(argument: _contextd_v1_StatsRequest, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Stats sums up the audit log.
   */
  stats(argument: _contextd_v1_StatsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  stats(argument: _contextd_v1_StatsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  stats(argument: _contextd_v1_StatsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;
  stats(argument: _contextd_v1_StatsRequest, callback: grpc.requestCallback<_contextd_v1_StatsResponse__Output>): grpc.ClientUnaryCall;

  StopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;

  /**
   * SyncMemories reports how the shared store and this one agree, after it has synchronised them if it was asked to.
   */
  SyncMemories(argument: _contextd_v1_MemorySyncRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  SyncMemories(argument: _contextd_v1_MemorySyncRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  SyncMemories(argument: _contextd_v1_MemorySyncRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  SyncMemories(argument: _contextd_v1_MemorySyncRequest, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  /**
   * SyncMemories reports how the shared store and this one agree, after it has synchronised them if it was asked to.
   */
  syncMemories(argument: _contextd_v1_MemorySyncRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  syncMemories(argument: _contextd_v1_MemorySyncRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  syncMemories(argument: _contextd_v1_MemorySyncRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;
  syncMemories(argument: _contextd_v1_MemorySyncRequest, callback: grpc.requestCallback<_contextd_v1_MemorySync__Output>): grpc.ClientUnaryCall;

  TailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;

  /**
   * TakeHook records what a hook of an agent's client hands in, as events of the session, and saves a checkpoint before a
   * compaction.
   */
  TakeHook(argument: _contextd_v1_HookReport, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  TakeHook(argument: _contextd_v1_HookReport, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  TakeHook(argument: _contextd_v1_HookReport, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  TakeHook(argument: _contextd_v1_HookReport, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  /**
   * TakeHook records what a hook of an agent's client hands in, as events of the session, and saves a checkpoint before a
   * compaction.
   */
  takeHook(argument: _contextd_v1_HookReport, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  takeHook(argument: _contextd_v1_HookReport, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  takeHook(argument: _contextd_v1_HookReport, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;
  takeHook(argument: _contextd_v1_HookReport, callback: grpc.requestCallback<_contextd_v1_HookAnswer__Output>): grpc.ClientUnaryCall;

  UndoChanges(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  UndoChanges(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  UndoChanges(argument: _contextd_v1_UndoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  UndoChanges(argument: _contextd_v1_UndoRequest, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  undoChanges(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  undoChanges(argument: _contextd_v1_UndoRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  undoChanges(argument: _contextd_v1_UndoRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;
  undoChanges(argument: _contextd_v1_UndoRequest, callback: grpc.requestCallback<_contextd_v1_UndoPlan__Output>): grpc.ClientUnaryCall;

  UnregisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  UnregisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  UnregisterProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  UnregisterProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  unregisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  unregisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  unregisterProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  unregisterProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;

}

/**
 * ManagementService serves ctxd. The server accepts only the CLI's certificate.
 */
export interface ManagementServiceHandlers extends grpc.UntypedServiceImplementation {
  AcceptQuarantined: grpc.handleUnaryCall<_contextd_v1_AcceptQuarantinedRequest__Output, _contextd_v1_QuarantineResponse>;

  AcceptTool: grpc.handleUnaryCall<_contextd_v1_AcceptToolRequest__Output, _contextd_v1_ProjectTools>;

  /**
   * AddApprovalRule makes a rule that asks; RemoveApprovalRule removes one with its answers.
   */
  AddApprovalRule: grpc.handleUnaryCall<_contextd_v1_NewApprovalRule__Output, _contextd_v1_ApprovalRuleList>;

  AddMemories: grpc.handleUnaryCall<_contextd_v1_NewMemories__Output, _contextd_v1_AddedMemories>;

  /**
   * AddUpstream adds an MCP server to a project and starts it; with dry_run it only checks the request. ListUpstreams lists the
   * servers, RemoveUpstream takes one out, and RestartUpstream starts one again.
   */
  AddUpstream: grpc.handleUnaryCall<_contextd_v1_NewUpstream__Output, _contextd_v1_UpstreamList>;

  /**
   * AllowPath lets commands of a project write a directory outside it; DisallowPath undoes that. ListPaths lists them.
   */
  AllowPath: grpc.handleUnaryCall<_contextd_v1_PathRequest__Output, _contextd_v1_PathList>;

  /**
   * AllowValue records that a value is no secret, by its HMAC. DisallowValue takes this back.
   */
  AllowValue: grpc.handleUnaryCall<_contextd_v1_AllowValueRequest__Output, _contextd_v1_AllowedValues>;

  AnswerApproval: grpc.handleUnaryCall<_contextd_v1_ApprovalAnswer__Output, _contextd_v1_AnsweredApproval>;

  ApproveRules: grpc.handleUnaryCall<_contextd_v1_ApproveRulesRequest__Output, _contextd_v1_RulesReview>;

  ApproveUpstream: grpc.handleUnaryCall<_contextd_v1_UpstreamApproval__Output, _contextd_v1_UpstreamReview>;

  /**
   * ChangeNetwork changes what programs may reach; with dry_run it only says what it would change. ListNetwork lists what
   * a person decided, ListNetworkGroups the named groups, and ReadNetworkLog who talked to whom.
   */
  ChangeNetwork: grpc.handleUnaryCall<_contextd_v1_NetworkChange__Output, _contextd_v1_NetworkState>;

  /**
   * CheckHealth tests the running parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  CheckHealth: grpc.handleUnaryCall<_contextd_v1_HealthRequest__Output, _contextd_v1_HealthResponse>;

  ClearCaches: grpc.handleUnaryCall<_contextd_v1_CachesRequest__Output, _contextd_v1_CachesResponse>;

  /**
   * CopyState copies the databases for a backup, which ctxd then makes of them.
   */
  CopyState: grpc.handleUnaryCall<_contextd_v1_CopyStateRequest__Output, _contextd_v1_StateCopy>;

  DisallowPath: grpc.handleUnaryCall<_contextd_v1_PathRequest__Output, _contextd_v1_PathList>;

  DisallowValue: grpc.handleUnaryCall<_contextd_v1_DisallowValueRequest__Output, _contextd_v1_AllowedValues>;

  EndBranchFiles: grpc.handleUnaryCall<_contextd_v1_BranchFilesRequest__Output, _contextd_v1_BranchFilesPlan>;

  /**
   * EndSession ends a session: its jobs are stopped, and what contextd keeps for it is removed.
   */
  EndSession: grpc.handleUnaryCall<_contextd_v1_SessionRequest__Output, _contextd_v1_EndSessionResponse>;

  ExportCheckpoint: grpc.handleUnaryCall<_contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointText>;

  ForgetMemories: grpc.handleUnaryCall<_contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList>;

  GetMemories: grpc.handleUnaryCall<_contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList>;

  /**
   * HttpStatus reports where the HTTP door listens, and what the listener there must answer to a challenge.
   */
  HttpStatus: grpc.handleUnaryCall<_contextd_v1_HttpChallenge__Output, _contextd_v1_HttpStanding>;

  /**
   * ImportCheckpoint gives the session the checkpoint of an exported file.
   */
  ImportCheckpoint: grpc.handleUnaryCall<_contextd_v1_ImportedCheckpoint__Output, _contextd_v1_CheckpointItem>;

  InspectSession: grpc.handleUnaryCall<_contextd_v1_SessionContextRequest__Output, _contextd_v1_SessionContext>;

  /**
   * InstallTool fetches a tool and checks it, and ends with a plan; nothing of it can run yet. AcceptTool lets a project use
   * what was planned, RollbackTool the version before, and RemoveTool takes a tool out of a project.
   */
  InstallTool: grpc.handleServerStreamingCall<_contextd_v1_InstallRequest__Output, _contextd_v1_InstallEvent>;

  KillRunning: grpc.handleUnaryCall<_contextd_v1_KillRequest__Output, _contextd_v1_RunningResponse>;

  /**
   * LearnFromCalls makes memories of recorded calls later, and ListLessons returns what waits for that or has failed.
   */
  LearnFromCalls: grpc.handleUnaryCall<_contextd_v1_LearnRequest__Output, _contextd_v1_PendingLessons>;

  ListAllowedValues: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_AllowedValues>;

  /**
   * ListApprovalAnswers lists the answers that are kept; RemoveApprovalAnswer takes one back.
   */
  ListApprovalAnswers: grpc.handleUnaryCall<_contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalAnswerList>;

  ListApprovalRules: grpc.handleUnaryCall<_contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalRuleList>;

  /**
   * ListApprovals lists the calls that wait for a person. AnswerApproval answers one, or a rule before a call asks.
   */
  ListApprovals: grpc.handleUnaryCall<_contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalList>;

  /**
   * ListBranches lists the branches of a project's sessions, open and closed.
   */
  ListBranches: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_BranchList>;

  /**
   * ListCaches lists what the commands of each project keep outside it, ClearCaches empties it.
   */
  ListCaches: grpc.handleUnaryCall<_contextd_v1_CachesRequest__Output, _contextd_v1_CachesResponse>;

  /**
   * ListCheckpoints returns the checkpoints of a project, the newest first.
   */
  ListCheckpoints: grpc.handleUnaryCall<_contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointList>;

  ListHttpTokens: grpc.handleUnaryCall<_contextd_v1_HttpTokensRequest__Output, _contextd_v1_HttpTokenList>;

  ListLessons: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_PendingLessons>;

  ListMemories: grpc.handleUnaryCall<_contextd_v1_MemoryListRequest__Output, _contextd_v1_MemoryList>;

  ListNetwork: grpc.handleUnaryCall<_contextd_v1_NetworkRequest__Output, _contextd_v1_NetworkState>;

  ListNetworkCredentials: grpc.handleUnaryCall<_contextd_v1_NetworkRequest__Output, _contextd_v1_NetworkCredentials>;

  ListNetworkGroups: grpc.handleUnaryCall<_contextd_v1_NetworkGroupsRequest__Output, _contextd_v1_NetworkGroups>;

  ListPaths: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_PathList>;

  /**
   * ListPorts lists what listens on the loopback that the commands of a project share. OpenPort makes one port
   * reachable for the caller.
   */
  ListPorts: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_PortsResponse>;

  /**
   * ListQuarantine lists files that commands created in a project and that were set aside, because a program on the host
   * would run them. RestoreQuarantined restores one, RemoveQuarantined deletes one, AcceptQuarantined restores one and accepts
   * its content permanently, and RevokeAccepted revokes the acceptance.
   */
  ListQuarantine: grpc.handleUnaryCall<_contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse>;

  /**
   * ListRunning lists running jobs and calls; KillRunning ends one of them.
   */
  ListRunning: grpc.handleUnaryCall<_contextd_v1_RunningRequest__Output, _contextd_v1_RunningResponse>;

  /**
   * ListSessions lists what is kept of the sessions of a project, the newest first. ReadSession returns events,
   * InspectSession the context that is made of them, and ReplaySession makes every earlier context again and compares it.
   */
  ListSessions: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_SessionList>;

  ListToolchains: grpc.handleUnaryCall<_contextd_v1_ToolchainRequest__Output, _contextd_v1_ToolchainList>;

  ListTools: grpc.handleUnaryCall<_contextd_v1_ListRequest__Output, _contextd_v1_ListResponse>;

  /**
   * ListUndo lists the calls that changed files. PlanUndo reports what one did and what taking it back would do; UndoChanges
   * takes it back.
   */
  ListUndo: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_UndoCalls>;

  ListUpstreams: grpc.handleUnaryCall<_contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList>;

  /**
   * MakeHttpToken makes a token for the HTTP door; the daemon keeps only its hash. RevokeHttpToken ends one.
   */
  MakeHttpToken: grpc.handleUnaryCall<_contextd_v1_NewHttpToken__Output, _contextd_v1_MadeHttpToken>;

  OpenPort: grpc.handleUnaryCall<_contextd_v1_OpenPortRequest__Output, _contextd_v1_OpenPortResponse>;

  /**
   * PlanBranchFiles compares the files of a branch with those of its parent; EndBranchFiles merges or discards them.
   */
  PlanBranchFiles: grpc.handleUnaryCall<_contextd_v1_BranchFilesRequest__Output, _contextd_v1_BranchFilesPlan>;

  PlanUndo: grpc.handleUnaryCall<_contextd_v1_UndoRequest__Output, _contextd_v1_UndoPlan>;

  PromoteMemory: grpc.handleUnaryCall<_contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList>;

  /**
   * RateMemory records how work went in which a memory was used; without an outcome it only returns the evidence.
   * ForgetMemories removes memories for good, and PromoteMemory lets every project find one.
   */
  RateMemory: grpc.handleUnaryCall<_contextd_v1_MemoryRating__Output, _contextd_v1_MemoryEvidence>;

  /**
   * ReadCatalogue returns the tools of a project as tool_browse searches them, and what was executed after searches.
   */
  ReadCatalogue: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_CatalogueResponse>;

  /**
   * ReadCheckpoint returns one as text, and ExportCheckpoint as a file for another session or machine.
   */
  ReadCheckpoint: grpc.handleUnaryCall<_contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointText>;

  ReadHostNetwork: grpc.handleUnaryCall<_contextd_v1_HostNetworkRequest__Output, _contextd_v1_HostNetwork>;

  ReadNetworkLog: grpc.handleUnaryCall<_contextd_v1_NetworkLogRequest__Output, _contextd_v1_NetworkLogResponse>;

  ReadSession: grpc.handleUnaryCall<_contextd_v1_SessionEventsRequest__Output, _contextd_v1_SessionEvents>;

  /**
   * RecordSettings records which settings of the configuration file changed since it was last called, or the daemon started.
   */
  RecordSettings: grpc.handleUnaryCall<_contextd_v1_RecordSettingsRequest__Output, _contextd_v1_RecordedSettings>;

  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject undoes that.
   */
  RegisterProject: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse>;

  RemoveApprovalAnswer: grpc.handleUnaryCall<_contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalAnswerList>;

  RemoveApprovalRule: grpc.handleUnaryCall<_contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalRuleList>;

  RemoveNetworkCredentials: grpc.handleUnaryCall<_contextd_v1_NetworkCredentialRemoval__Output, _contextd_v1_NetworkCredentials>;

  RemoveQuarantined: grpc.handleUnaryCall<_contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse>;

  RemoveTool: grpc.handleUnaryCall<_contextd_v1_ToolRequest__Output, _contextd_v1_ProjectTools>;

  RemoveUpstream: grpc.handleUnaryCall<_contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList>;

  ReplaySession: grpc.handleUnaryCall<_contextd_v1_SessionRequest__Output, _contextd_v1_SessionReplay>;

  /**
   * ReportMemories returns what memories changed, by sessions in which they were found and not shown. Ids: all if empty.
   */
  ReportMemories: grpc.handleUnaryCall<_contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryReport>;

  /**
   * RestartServer replaces the daemon by a new one, which goes on with its calls and jobs. If the new one does not start, nothing
   * has changed.
   */
  RestartServer: grpc.handleUnaryCall<_contextd_v1_RestartRequest__Output, _contextd_v1_RestartResponse>;

  RestartUpstream: grpc.handleUnaryCall<_contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList>;

  RestoreQuarantined: grpc.handleUnaryCall<_contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse>;

  /**
   * RevealSecret returns the value behind a token, for a person. The audit log records it.
   */
  RevealSecret: grpc.handleUnaryCall<_contextd_v1_SecretRequest__Output, _contextd_v1_RevealedSecret>;

  /**
   * ReviewRules lists what an approval of a project's .gitleaks.toml would allow; ApproveRules allows it for
   * exactly these bytes, and RevokeRules revokes the approval.
   */
  ReviewRules: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_RulesReview>;

  /**
   * ReviewUpstream shows which tools of a server differ from those that were accepted, and ApproveUpstream accepts them.
   */
  ReviewUpstream: grpc.handleUnaryCall<_contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamReview>;

  RevokeAccepted: grpc.handleUnaryCall<_contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse>;

  RevokeHttpToken: grpc.handleUnaryCall<_contextd_v1_HttpTokenRequest__Output, _contextd_v1_HttpTokenList>;

  RevokeRules: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_RulesReview>;

  RollbackTool: grpc.handleUnaryCall<_contextd_v1_RollbackToolRequest__Output, _contextd_v1_ProjectTools>;

  /**
   * SaveCheckpoint saves what a session did so far.
   */
  SaveCheckpoint: grpc.handleUnaryCall<_contextd_v1_NewCheckpoint__Output, _contextd_v1_CheckpointItem>;

  /**
   * SearchMemories finds memories as the tool memory_search does, with more of each. ListMemories returns them in the order
   * in which they were stored, GetMemories by their ids. AddMemories stores what a person wrote or imports.
   */
  SearchMemories: grpc.handleUnaryCall<_contextd_v1_MemoryQuery__Output, _contextd_v1_MemoryList>;

  ServerStatus: grpc.handleUnaryCall<_contextd_v1_StatusRequest__Output, _contextd_v1_StatusResponse>;

  /**
   * SessionSecrets lists the secrets in a session's vault, by number and without values.
   */
  SessionSecrets: grpc.handleUnaryCall<_contextd_v1_SessionRequest__Output, _contextd_v1_SessionSecretsResponse>;

  /**
   * SetHostNetwork replaces the certificates and registries of the host that commands of every project get;
   * ReadHostNetwork returns them.
   */
  SetHostNetwork: grpc.handleUnaryCall<_contextd_v1_HostNetwork__Output, _contextd_v1_HostNetwork>;

  /**
   * SetNetworkCredential binds a secret to a host, or replaces the one of the same host and paths. No answer holds a
   * secret.
   */
  SetNetworkCredential: grpc.handleUnaryCall<_contextd_v1_NetworkCredentialChange__Output, _contextd_v1_NetworkCredentials>;

  /**
   * SetToolchains replaces the toolchains that commands of every project may read and run, and the person's PATH;
   * ListToolchains returns them.
   */
  SetToolchains: grpc.handleUnaryCall<_contextd_v1_ToolchainList__Output, _contextd_v1_ToolchainList>;

  /**
   * Stats sums up the audit log.
   */
  Stats: grpc.handleUnaryCall<_contextd_v1_StatsRequest__Output, _contextd_v1_StatsResponse>;

  StopServer: grpc.handleUnaryCall<_contextd_v1_StopRequest__Output, _contextd_v1_StopResponse>;

  /**
   * SyncMemories reports how the shared store and this one agree, after it has synchronised them if it was asked to.
   */
  SyncMemories: grpc.handleUnaryCall<_contextd_v1_MemorySyncRequest__Output, _contextd_v1_MemorySync>;

  TailAudit: grpc.handleUnaryCall<_contextd_v1_AuditRequest__Output, _contextd_v1_AuditResponse>;

  /**
   * TakeHook records what a hook of an agent's client hands in, as events of the session, and saves a checkpoint before a
   * compaction.
   */
  TakeHook: grpc.handleUnaryCall<_contextd_v1_HookReport__Output, _contextd_v1_HookAnswer>;

  UndoChanges: grpc.handleUnaryCall<_contextd_v1_UndoRequest__Output, _contextd_v1_UndoPlan>;

  UnregisterProject: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse>;

}

export interface ManagementServiceDefinition extends grpc.ServiceDefinition {
  AcceptQuarantined: MethodDefinition<_contextd_v1_AcceptQuarantinedRequest, _contextd_v1_QuarantineResponse, _contextd_v1_AcceptQuarantinedRequest__Output, _contextd_v1_QuarantineResponse__Output>
  AcceptTool: MethodDefinition<_contextd_v1_AcceptToolRequest, _contextd_v1_ProjectTools, _contextd_v1_AcceptToolRequest__Output, _contextd_v1_ProjectTools__Output>
  AddApprovalRule: MethodDefinition<_contextd_v1_NewApprovalRule, _contextd_v1_ApprovalRuleList, _contextd_v1_NewApprovalRule__Output, _contextd_v1_ApprovalRuleList__Output>
  AddMemories: MethodDefinition<_contextd_v1_NewMemories, _contextd_v1_AddedMemories, _contextd_v1_NewMemories__Output, _contextd_v1_AddedMemories__Output>
  AddUpstream: MethodDefinition<_contextd_v1_NewUpstream, _contextd_v1_UpstreamList, _contextd_v1_NewUpstream__Output, _contextd_v1_UpstreamList__Output>
  AllowPath: MethodDefinition<_contextd_v1_PathRequest, _contextd_v1_PathList, _contextd_v1_PathRequest__Output, _contextd_v1_PathList__Output>
  AllowValue: MethodDefinition<_contextd_v1_AllowValueRequest, _contextd_v1_AllowedValues, _contextd_v1_AllowValueRequest__Output, _contextd_v1_AllowedValues__Output>
  AnswerApproval: MethodDefinition<_contextd_v1_ApprovalAnswer, _contextd_v1_AnsweredApproval, _contextd_v1_ApprovalAnswer__Output, _contextd_v1_AnsweredApproval__Output>
  ApproveRules: MethodDefinition<_contextd_v1_ApproveRulesRequest, _contextd_v1_RulesReview, _contextd_v1_ApproveRulesRequest__Output, _contextd_v1_RulesReview__Output>
  ApproveUpstream: MethodDefinition<_contextd_v1_UpstreamApproval, _contextd_v1_UpstreamReview, _contextd_v1_UpstreamApproval__Output, _contextd_v1_UpstreamReview__Output>
  ChangeNetwork: MethodDefinition<_contextd_v1_NetworkChange, _contextd_v1_NetworkState, _contextd_v1_NetworkChange__Output, _contextd_v1_NetworkState__Output>
  CheckHealth: MethodDefinition<_contextd_v1_HealthRequest, _contextd_v1_HealthResponse, _contextd_v1_HealthRequest__Output, _contextd_v1_HealthResponse__Output>
  ClearCaches: MethodDefinition<_contextd_v1_CachesRequest, _contextd_v1_CachesResponse, _contextd_v1_CachesRequest__Output, _contextd_v1_CachesResponse__Output>
  CopyState: MethodDefinition<_contextd_v1_CopyStateRequest, _contextd_v1_StateCopy, _contextd_v1_CopyStateRequest__Output, _contextd_v1_StateCopy__Output>
  DisallowPath: MethodDefinition<_contextd_v1_PathRequest, _contextd_v1_PathList, _contextd_v1_PathRequest__Output, _contextd_v1_PathList__Output>
  DisallowValue: MethodDefinition<_contextd_v1_DisallowValueRequest, _contextd_v1_AllowedValues, _contextd_v1_DisallowValueRequest__Output, _contextd_v1_AllowedValues__Output>
  EndBranchFiles: MethodDefinition<_contextd_v1_BranchFilesRequest, _contextd_v1_BranchFilesPlan, _contextd_v1_BranchFilesRequest__Output, _contextd_v1_BranchFilesPlan__Output>
  EndSession: MethodDefinition<_contextd_v1_SessionRequest, _contextd_v1_EndSessionResponse, _contextd_v1_SessionRequest__Output, _contextd_v1_EndSessionResponse__Output>
  ExportCheckpoint: MethodDefinition<_contextd_v1_CheckpointRequest, _contextd_v1_CheckpointText, _contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointText__Output>
  ForgetMemories: MethodDefinition<_contextd_v1_MemoryRequest, _contextd_v1_MemoryList, _contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList__Output>
  GetMemories: MethodDefinition<_contextd_v1_MemoryRequest, _contextd_v1_MemoryList, _contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList__Output>
  HttpStatus: MethodDefinition<_contextd_v1_HttpChallenge, _contextd_v1_HttpStanding, _contextd_v1_HttpChallenge__Output, _contextd_v1_HttpStanding__Output>
  ImportCheckpoint: MethodDefinition<_contextd_v1_ImportedCheckpoint, _contextd_v1_CheckpointItem, _contextd_v1_ImportedCheckpoint__Output, _contextd_v1_CheckpointItem__Output>
  InspectSession: MethodDefinition<_contextd_v1_SessionContextRequest, _contextd_v1_SessionContext, _contextd_v1_SessionContextRequest__Output, _contextd_v1_SessionContext__Output>
  InstallTool: MethodDefinition<_contextd_v1_InstallRequest, _contextd_v1_InstallEvent, _contextd_v1_InstallRequest__Output, _contextd_v1_InstallEvent__Output>
  KillRunning: MethodDefinition<_contextd_v1_KillRequest, _contextd_v1_RunningResponse, _contextd_v1_KillRequest__Output, _contextd_v1_RunningResponse__Output>
  LearnFromCalls: MethodDefinition<_contextd_v1_LearnRequest, _contextd_v1_PendingLessons, _contextd_v1_LearnRequest__Output, _contextd_v1_PendingLessons__Output>
  ListAllowedValues: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_AllowedValues, _contextd_v1_ProjectRequest__Output, _contextd_v1_AllowedValues__Output>
  ListApprovalAnswers: MethodDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalAnswerList, _contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalAnswerList__Output>
  ListApprovalRules: MethodDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalRuleList, _contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalRuleList__Output>
  ListApprovals: MethodDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalList, _contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalList__Output>
  ListBranches: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_BranchList, _contextd_v1_ProjectRequest__Output, _contextd_v1_BranchList__Output>
  ListCaches: MethodDefinition<_contextd_v1_CachesRequest, _contextd_v1_CachesResponse, _contextd_v1_CachesRequest__Output, _contextd_v1_CachesResponse__Output>
  ListCheckpoints: MethodDefinition<_contextd_v1_CheckpointRequest, _contextd_v1_CheckpointList, _contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointList__Output>
  ListHttpTokens: MethodDefinition<_contextd_v1_HttpTokensRequest, _contextd_v1_HttpTokenList, _contextd_v1_HttpTokensRequest__Output, _contextd_v1_HttpTokenList__Output>
  ListLessons: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_PendingLessons, _contextd_v1_ProjectRequest__Output, _contextd_v1_PendingLessons__Output>
  ListMemories: MethodDefinition<_contextd_v1_MemoryListRequest, _contextd_v1_MemoryList, _contextd_v1_MemoryListRequest__Output, _contextd_v1_MemoryList__Output>
  ListNetwork: MethodDefinition<_contextd_v1_NetworkRequest, _contextd_v1_NetworkState, _contextd_v1_NetworkRequest__Output, _contextd_v1_NetworkState__Output>
  ListNetworkCredentials: MethodDefinition<_contextd_v1_NetworkRequest, _contextd_v1_NetworkCredentials, _contextd_v1_NetworkRequest__Output, _contextd_v1_NetworkCredentials__Output>
  ListNetworkGroups: MethodDefinition<_contextd_v1_NetworkGroupsRequest, _contextd_v1_NetworkGroups, _contextd_v1_NetworkGroupsRequest__Output, _contextd_v1_NetworkGroups__Output>
  ListPaths: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_PathList, _contextd_v1_ProjectRequest__Output, _contextd_v1_PathList__Output>
  ListPorts: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_PortsResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_PortsResponse__Output>
  ListQuarantine: MethodDefinition<_contextd_v1_QuarantineRequest, _contextd_v1_QuarantineResponse, _contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse__Output>
  ListRunning: MethodDefinition<_contextd_v1_RunningRequest, _contextd_v1_RunningResponse, _contextd_v1_RunningRequest__Output, _contextd_v1_RunningResponse__Output>
  ListSessions: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_SessionList, _contextd_v1_ProjectRequest__Output, _contextd_v1_SessionList__Output>
  ListToolchains: MethodDefinition<_contextd_v1_ToolchainRequest, _contextd_v1_ToolchainList, _contextd_v1_ToolchainRequest__Output, _contextd_v1_ToolchainList__Output>
  ListTools: MethodDefinition<_contextd_v1_ListRequest, _contextd_v1_ListResponse, _contextd_v1_ListRequest__Output, _contextd_v1_ListResponse__Output>
  ListUndo: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_UndoCalls, _contextd_v1_ProjectRequest__Output, _contextd_v1_UndoCalls__Output>
  ListUpstreams: MethodDefinition<_contextd_v1_UpstreamRequest, _contextd_v1_UpstreamList, _contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList__Output>
  MakeHttpToken: MethodDefinition<_contextd_v1_NewHttpToken, _contextd_v1_MadeHttpToken, _contextd_v1_NewHttpToken__Output, _contextd_v1_MadeHttpToken__Output>
  OpenPort: MethodDefinition<_contextd_v1_OpenPortRequest, _contextd_v1_OpenPortResponse, _contextd_v1_OpenPortRequest__Output, _contextd_v1_OpenPortResponse__Output>
  PlanBranchFiles: MethodDefinition<_contextd_v1_BranchFilesRequest, _contextd_v1_BranchFilesPlan, _contextd_v1_BranchFilesRequest__Output, _contextd_v1_BranchFilesPlan__Output>
  PlanUndo: MethodDefinition<_contextd_v1_UndoRequest, _contextd_v1_UndoPlan, _contextd_v1_UndoRequest__Output, _contextd_v1_UndoPlan__Output>
  PromoteMemory: MethodDefinition<_contextd_v1_MemoryRequest, _contextd_v1_MemoryList, _contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryList__Output>
  RateMemory: MethodDefinition<_contextd_v1_MemoryRating, _contextd_v1_MemoryEvidence, _contextd_v1_MemoryRating__Output, _contextd_v1_MemoryEvidence__Output>
  ReadCatalogue: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_CatalogueResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_CatalogueResponse__Output>
  ReadCheckpoint: MethodDefinition<_contextd_v1_CheckpointRequest, _contextd_v1_CheckpointText, _contextd_v1_CheckpointRequest__Output, _contextd_v1_CheckpointText__Output>
  ReadHostNetwork: MethodDefinition<_contextd_v1_HostNetworkRequest, _contextd_v1_HostNetwork, _contextd_v1_HostNetworkRequest__Output, _contextd_v1_HostNetwork__Output>
  ReadNetworkLog: MethodDefinition<_contextd_v1_NetworkLogRequest, _contextd_v1_NetworkLogResponse, _contextd_v1_NetworkLogRequest__Output, _contextd_v1_NetworkLogResponse__Output>
  ReadSession: MethodDefinition<_contextd_v1_SessionEventsRequest, _contextd_v1_SessionEvents, _contextd_v1_SessionEventsRequest__Output, _contextd_v1_SessionEvents__Output>
  RecordSettings: MethodDefinition<_contextd_v1_RecordSettingsRequest, _contextd_v1_RecordedSettings, _contextd_v1_RecordSettingsRequest__Output, _contextd_v1_RecordedSettings__Output>
  RegisterProject: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_ProjectResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse__Output>
  RemoveApprovalAnswer: MethodDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalAnswerList, _contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalAnswerList__Output>
  RemoveApprovalRule: MethodDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalRuleList, _contextd_v1_ApprovalRequest__Output, _contextd_v1_ApprovalRuleList__Output>
  RemoveNetworkCredentials: MethodDefinition<_contextd_v1_NetworkCredentialRemoval, _contextd_v1_NetworkCredentials, _contextd_v1_NetworkCredentialRemoval__Output, _contextd_v1_NetworkCredentials__Output>
  RemoveQuarantined: MethodDefinition<_contextd_v1_QuarantineRequest, _contextd_v1_QuarantineResponse, _contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse__Output>
  RemoveTool: MethodDefinition<_contextd_v1_ToolRequest, _contextd_v1_ProjectTools, _contextd_v1_ToolRequest__Output, _contextd_v1_ProjectTools__Output>
  RemoveUpstream: MethodDefinition<_contextd_v1_UpstreamRequest, _contextd_v1_UpstreamList, _contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList__Output>
  ReplaySession: MethodDefinition<_contextd_v1_SessionRequest, _contextd_v1_SessionReplay, _contextd_v1_SessionRequest__Output, _contextd_v1_SessionReplay__Output>
  ReportMemories: MethodDefinition<_contextd_v1_MemoryRequest, _contextd_v1_MemoryReport, _contextd_v1_MemoryRequest__Output, _contextd_v1_MemoryReport__Output>
  RestartServer: MethodDefinition<_contextd_v1_RestartRequest, _contextd_v1_RestartResponse, _contextd_v1_RestartRequest__Output, _contextd_v1_RestartResponse__Output>
  RestartUpstream: MethodDefinition<_contextd_v1_UpstreamRequest, _contextd_v1_UpstreamList, _contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamList__Output>
  RestoreQuarantined: MethodDefinition<_contextd_v1_QuarantineRequest, _contextd_v1_QuarantineResponse, _contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse__Output>
  RevealSecret: MethodDefinition<_contextd_v1_SecretRequest, _contextd_v1_RevealedSecret, _contextd_v1_SecretRequest__Output, _contextd_v1_RevealedSecret__Output>
  ReviewRules: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_RulesReview, _contextd_v1_ProjectRequest__Output, _contextd_v1_RulesReview__Output>
  ReviewUpstream: MethodDefinition<_contextd_v1_UpstreamRequest, _contextd_v1_UpstreamReview, _contextd_v1_UpstreamRequest__Output, _contextd_v1_UpstreamReview__Output>
  RevokeAccepted: MethodDefinition<_contextd_v1_QuarantineRequest, _contextd_v1_QuarantineResponse, _contextd_v1_QuarantineRequest__Output, _contextd_v1_QuarantineResponse__Output>
  RevokeHttpToken: MethodDefinition<_contextd_v1_HttpTokenRequest, _contextd_v1_HttpTokenList, _contextd_v1_HttpTokenRequest__Output, _contextd_v1_HttpTokenList__Output>
  RevokeRules: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_RulesReview, _contextd_v1_ProjectRequest__Output, _contextd_v1_RulesReview__Output>
  RollbackTool: MethodDefinition<_contextd_v1_RollbackToolRequest, _contextd_v1_ProjectTools, _contextd_v1_RollbackToolRequest__Output, _contextd_v1_ProjectTools__Output>
  SaveCheckpoint: MethodDefinition<_contextd_v1_NewCheckpoint, _contextd_v1_CheckpointItem, _contextd_v1_NewCheckpoint__Output, _contextd_v1_CheckpointItem__Output>
  SearchMemories: MethodDefinition<_contextd_v1_MemoryQuery, _contextd_v1_MemoryList, _contextd_v1_MemoryQuery__Output, _contextd_v1_MemoryList__Output>
  ServerStatus: MethodDefinition<_contextd_v1_StatusRequest, _contextd_v1_StatusResponse, _contextd_v1_StatusRequest__Output, _contextd_v1_StatusResponse__Output>
  SessionSecrets: MethodDefinition<_contextd_v1_SessionRequest, _contextd_v1_SessionSecretsResponse, _contextd_v1_SessionRequest__Output, _contextd_v1_SessionSecretsResponse__Output>
  SetHostNetwork: MethodDefinition<_contextd_v1_HostNetwork, _contextd_v1_HostNetwork, _contextd_v1_HostNetwork__Output, _contextd_v1_HostNetwork__Output>
  SetNetworkCredential: MethodDefinition<_contextd_v1_NetworkCredentialChange, _contextd_v1_NetworkCredentials, _contextd_v1_NetworkCredentialChange__Output, _contextd_v1_NetworkCredentials__Output>
  SetToolchains: MethodDefinition<_contextd_v1_ToolchainList, _contextd_v1_ToolchainList, _contextd_v1_ToolchainList__Output, _contextd_v1_ToolchainList__Output>
  Stats: MethodDefinition<_contextd_v1_StatsRequest, _contextd_v1_StatsResponse, _contextd_v1_StatsRequest__Output, _contextd_v1_StatsResponse__Output>
  StopServer: MethodDefinition<_contextd_v1_StopRequest, _contextd_v1_StopResponse, _contextd_v1_StopRequest__Output, _contextd_v1_StopResponse__Output>
  SyncMemories: MethodDefinition<_contextd_v1_MemorySyncRequest, _contextd_v1_MemorySync, _contextd_v1_MemorySyncRequest__Output, _contextd_v1_MemorySync__Output>
  TailAudit: MethodDefinition<_contextd_v1_AuditRequest, _contextd_v1_AuditResponse, _contextd_v1_AuditRequest__Output, _contextd_v1_AuditResponse__Output>
  TakeHook: MethodDefinition<_contextd_v1_HookReport, _contextd_v1_HookAnswer, _contextd_v1_HookReport__Output, _contextd_v1_HookAnswer__Output>
  UndoChanges: MethodDefinition<_contextd_v1_UndoRequest, _contextd_v1_UndoPlan, _contextd_v1_UndoRequest__Output, _contextd_v1_UndoPlan__Output>
  UnregisterProject: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_ProjectResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse__Output>
}

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
      AnsweredApproval: MessageTypeDefinition<_contextd_v1_AnsweredApproval, _contextd_v1_AnsweredApproval__Output>
      ApprovalAnswer: MessageTypeDefinition<_contextd_v1_ApprovalAnswer, _contextd_v1_ApprovalAnswer__Output>
      ApprovalAnswerList: MessageTypeDefinition<_contextd_v1_ApprovalAnswerList, _contextd_v1_ApprovalAnswerList__Output>
      ApprovalList: MessageTypeDefinition<_contextd_v1_ApprovalList, _contextd_v1_ApprovalList__Output>
      ApprovalRequest: MessageTypeDefinition<_contextd_v1_ApprovalRequest, _contextd_v1_ApprovalRequest__Output>
      ApprovalRuleInfo: MessageTypeDefinition<_contextd_v1_ApprovalRuleInfo, _contextd_v1_ApprovalRuleInfo__Output>
      ApprovalRuleList: MessageTypeDefinition<_contextd_v1_ApprovalRuleList, _contextd_v1_ApprovalRuleList__Output>
      ApproveRulesRequest: MessageTypeDefinition<_contextd_v1_ApproveRulesRequest, _contextd_v1_ApproveRulesRequest__Output>
      AuditRequest: MessageTypeDefinition<_contextd_v1_AuditRequest, _contextd_v1_AuditRequest__Output>
      AuditResponse: MessageTypeDefinition<_contextd_v1_AuditResponse, _contextd_v1_AuditResponse__Output>
      AuditSegment: MessageTypeDefinition<_contextd_v1_AuditSegment, _contextd_v1_AuditSegment__Output>
      BadLink: MessageTypeDefinition<_contextd_v1_BadLink, _contextd_v1_BadLink__Output>
      BranchFile: MessageTypeDefinition<_contextd_v1_BranchFile, _contextd_v1_BranchFile__Output>
      BranchFilesPlan: MessageTypeDefinition<_contextd_v1_BranchFilesPlan, _contextd_v1_BranchFilesPlan__Output>
      BranchFilesRequest: MessageTypeDefinition<_contextd_v1_BranchFilesRequest, _contextd_v1_BranchFilesRequest__Output>
      BranchInfo: MessageTypeDefinition<_contextd_v1_BranchInfo, _contextd_v1_BranchInfo__Output>
      BranchList: MessageTypeDefinition<_contextd_v1_BranchList, _contextd_v1_BranchList__Output>
      CachesRequest: MessageTypeDefinition<_contextd_v1_CachesRequest, _contextd_v1_CachesRequest__Output>
      CachesResponse: MessageTypeDefinition<_contextd_v1_CachesResponse, _contextd_v1_CachesResponse__Output>
      CatalogueResponse: MessageTypeDefinition<_contextd_v1_CatalogueResponse, _contextd_v1_CatalogueResponse__Output>
      CheckpointItem: MessageTypeDefinition<_contextd_v1_CheckpointItem, _contextd_v1_CheckpointItem__Output>
      CheckpointList: MessageTypeDefinition<_contextd_v1_CheckpointList, _contextd_v1_CheckpointList__Output>
      CheckpointRequest: MessageTypeDefinition<_contextd_v1_CheckpointRequest, _contextd_v1_CheckpointRequest__Output>
      CheckpointText: MessageTypeDefinition<_contextd_v1_CheckpointText, _contextd_v1_CheckpointText__Output>
      CopyStateRequest: MessageTypeDefinition<_contextd_v1_CopyStateRequest, _contextd_v1_CopyStateRequest__Output>
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
      HttpChallenge: MessageTypeDefinition<_contextd_v1_HttpChallenge, _contextd_v1_HttpChallenge__Output>
      HttpStanding: MessageTypeDefinition<_contextd_v1_HttpStanding, _contextd_v1_HttpStanding__Output>
      HttpToken: MessageTypeDefinition<_contextd_v1_HttpToken, _contextd_v1_HttpToken__Output>
      HttpTokenList: MessageTypeDefinition<_contextd_v1_HttpTokenList, _contextd_v1_HttpTokenList__Output>
      HttpTokenRequest: MessageTypeDefinition<_contextd_v1_HttpTokenRequest, _contextd_v1_HttpTokenRequest__Output>
      HttpTokensRequest: MessageTypeDefinition<_contextd_v1_HttpTokensRequest, _contextd_v1_HttpTokensRequest__Output>
      ImportedCheckpoint: MessageTypeDefinition<_contextd_v1_ImportedCheckpoint, _contextd_v1_ImportedCheckpoint__Output>
      InstallEvent: MessageTypeDefinition<_contextd_v1_InstallEvent, _contextd_v1_InstallEvent__Output>
      InstallProgress: MessageTypeDefinition<_contextd_v1_InstallProgress, _contextd_v1_InstallProgress__Output>
      InstallRequest: MessageTypeDefinition<_contextd_v1_InstallRequest, _contextd_v1_InstallRequest__Output>
      KeptApproval: MessageTypeDefinition<_contextd_v1_KeptApproval, _contextd_v1_KeptApproval__Output>
      KillRequest: MessageTypeDefinition<_contextd_v1_KillRequest, _contextd_v1_KillRequest__Output>
      KindLift: MessageTypeDefinition<_contextd_v1_KindLift, _contextd_v1_KindLift__Output>
      LearnRequest: MessageTypeDefinition<_contextd_v1_LearnRequest, _contextd_v1_LearnRequest__Output>
      ListRequest: MessageTypeDefinition<_contextd_v1_ListRequest, _contextd_v1_ListRequest__Output>
      ListResponse: MessageTypeDefinition<_contextd_v1_ListResponse, _contextd_v1_ListResponse__Output>
      ListeningPort: MessageTypeDefinition<_contextd_v1_ListeningPort, _contextd_v1_ListeningPort__Output>
      MadeHttpToken: MessageTypeDefinition<_contextd_v1_MadeHttpToken, _contextd_v1_MadeHttpToken__Output>
      /**
       * ManagementService serves ctxd. The server accepts only the CLI's certificate.
       */
      ManagementService: SubtypeConstructor<typeof grpc.Client, ManagementServiceClient> & { service: ManagementServiceDefinition }
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
      NewApprovalRule: MessageTypeDefinition<_contextd_v1_NewApprovalRule, _contextd_v1_NewApprovalRule__Output>
      NewCheckpoint: MessageTypeDefinition<_contextd_v1_NewCheckpoint, _contextd_v1_NewCheckpoint__Output>
      NewHttpToken: MessageTypeDefinition<_contextd_v1_NewHttpToken, _contextd_v1_NewHttpToken__Output>
      NewMemories: MessageTypeDefinition<_contextd_v1_NewMemories, _contextd_v1_NewMemories__Output>
      NewUpstream: MessageTypeDefinition<_contextd_v1_NewUpstream, _contextd_v1_NewUpstream__Output>
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
      RecordSettingsRequest: MessageTypeDefinition<_contextd_v1_RecordSettingsRequest, _contextd_v1_RecordSettingsRequest__Output>
      RecordedSettings: MessageTypeDefinition<_contextd_v1_RecordedSettings, _contextd_v1_RecordedSettings__Output>
      RegistrySetting: MessageTypeDefinition<_contextd_v1_RegistrySetting, _contextd_v1_RegistrySetting__Output>
      ReplayedContext: MessageTypeDefinition<_contextd_v1_ReplayedContext, _contextd_v1_ReplayedContext__Output>
      RestartRequest: MessageTypeDefinition<_contextd_v1_RestartRequest, _contextd_v1_RestartRequest__Output>
      RestartResponse: MessageTypeDefinition<_contextd_v1_RestartResponse, _contextd_v1_RestartResponse__Output>
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
      StateCopy: MessageTypeDefinition<_contextd_v1_StateCopy, _contextd_v1_StateCopy__Output>
      StatsRequest: MessageTypeDefinition<_contextd_v1_StatsRequest, _contextd_v1_StatsRequest__Output>
      StatsResponse: MessageTypeDefinition<_contextd_v1_StatsResponse, _contextd_v1_StatsResponse__Output>
      StatsRow: MessageTypeDefinition<_contextd_v1_StatsRow, _contextd_v1_StatsRow__Output>
      StatusRequest: MessageTypeDefinition<_contextd_v1_StatusRequest, _contextd_v1_StatusRequest__Output>
      StatusResponse: MessageTypeDefinition<_contextd_v1_StatusResponse, _contextd_v1_StatusResponse__Output>
      StepLatency: MessageTypeDefinition<_contextd_v1_StepLatency, _contextd_v1_StepLatency__Output>
      StopRequest: MessageTypeDefinition<_contextd_v1_StopRequest, _contextd_v1_StopRequest__Output>
      StopResponse: MessageTypeDefinition<_contextd_v1_StopResponse, _contextd_v1_StopResponse__Output>
      ToolChoice: MessageTypeDefinition<_contextd_v1_ToolChoice, _contextd_v1_ToolChoice__Output>
      ToolInfo: MessageTypeDefinition<_contextd_v1_ToolInfo, _contextd_v1_ToolInfo__Output>
      ToolOrigin: MessageTypeDefinition<_contextd_v1_ToolOrigin, _contextd_v1_ToolOrigin__Output>
      ToolPlan: MessageTypeDefinition<_contextd_v1_ToolPlan, _contextd_v1_ToolPlan__Output>
      ToolRequest: MessageTypeDefinition<_contextd_v1_ToolRequest, _contextd_v1_ToolRequest__Output>
      Toolchain: MessageTypeDefinition<_contextd_v1_Toolchain, _contextd_v1_Toolchain__Output>
      ToolchainList: MessageTypeDefinition<_contextd_v1_ToolchainList, _contextd_v1_ToolchainList__Output>
      ToolchainRequest: MessageTypeDefinition<_contextd_v1_ToolchainRequest, _contextd_v1_ToolchainRequest__Output>
      UndoCall: MessageTypeDefinition<_contextd_v1_UndoCall, _contextd_v1_UndoCall__Output>
      UndoCalls: MessageTypeDefinition<_contextd_v1_UndoCalls, _contextd_v1_UndoCalls__Output>
      UndoFile: MessageTypeDefinition<_contextd_v1_UndoFile, _contextd_v1_UndoFile__Output>
      UndoPlan: MessageTypeDefinition<_contextd_v1_UndoPlan, _contextd_v1_UndoPlan__Output>
      UndoRequest: MessageTypeDefinition<_contextd_v1_UndoRequest, _contextd_v1_UndoRequest__Output>
      UpstreamApproval: MessageTypeDefinition<_contextd_v1_UpstreamApproval, _contextd_v1_UpstreamApproval__Output>
      UpstreamChange: MessageTypeDefinition<_contextd_v1_UpstreamChange, _contextd_v1_UpstreamChange__Output>
      UpstreamInfo: MessageTypeDefinition<_contextd_v1_UpstreamInfo, _contextd_v1_UpstreamInfo__Output>
      UpstreamList: MessageTypeDefinition<_contextd_v1_UpstreamList, _contextd_v1_UpstreamList__Output>
      UpstreamPath: MessageTypeDefinition<_contextd_v1_UpstreamPath, _contextd_v1_UpstreamPath__Output>
      UpstreamRequest: MessageTypeDefinition<_contextd_v1_UpstreamRequest, _contextd_v1_UpstreamRequest__Output>
      UpstreamReview: MessageTypeDefinition<_contextd_v1_UpstreamReview, _contextd_v1_UpstreamReview__Output>
      UpstreamVariable: MessageTypeDefinition<_contextd_v1_UpstreamVariable, _contextd_v1_UpstreamVariable__Output>
      WaitingApproval: MessageTypeDefinition<_contextd_v1_WaitingApproval, _contextd_v1_WaitingApproval__Output>
    }
  }
}
