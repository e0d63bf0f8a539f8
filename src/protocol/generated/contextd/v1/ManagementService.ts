// Original file: proto/contextd/v1/management.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AuditRequest as _contextd_v1_AuditRequest, AuditRequest__Output as _contextd_v1_AuditRequest__Output } from '../../contextd/v1/AuditRequest.ts';
import type { AuditResponse as _contextd_v1_AuditResponse, AuditResponse__Output as _contextd_v1_AuditResponse__Output } from '../../contextd/v1/AuditResponse.ts';
import type { HealthRequest as _contextd_v1_HealthRequest, HealthRequest__Output as _contextd_v1_HealthRequest__Output } from '../../contextd/v1/HealthRequest.ts';
import type { HealthResponse as _contextd_v1_HealthResponse, HealthResponse__Output as _contextd_v1_HealthResponse__Output } from '../../contextd/v1/HealthResponse.ts';
import type { ListRequest as _contextd_v1_ListRequest, ListRequest__Output as _contextd_v1_ListRequest__Output } from '../../contextd/v1/ListRequest.ts';
import type { ListResponse as _contextd_v1_ListResponse, ListResponse__Output as _contextd_v1_ListResponse__Output } from '../../contextd/v1/ListResponse.ts';
import type { ProjectRequest as _contextd_v1_ProjectRequest, ProjectRequest__Output as _contextd_v1_ProjectRequest__Output } from '../../contextd/v1/ProjectRequest.ts';
import type { ProjectResponse as _contextd_v1_ProjectResponse, ProjectResponse__Output as _contextd_v1_ProjectResponse__Output } from '../../contextd/v1/ProjectResponse.ts';
import type { StatusRequest as _contextd_v1_StatusRequest, StatusRequest__Output as _contextd_v1_StatusRequest__Output } from '../../contextd/v1/StatusRequest.ts';
import type { StatusResponse as _contextd_v1_StatusResponse, StatusResponse__Output as _contextd_v1_StatusResponse__Output } from '../../contextd/v1/StatusResponse.ts';
import type { StopRequest as _contextd_v1_StopRequest, StopRequest__Output as _contextd_v1_StopRequest__Output } from '../../contextd/v1/StopRequest.ts';
import type { StopResponse as _contextd_v1_StopResponse, StopResponse__Output as _contextd_v1_StopResponse__Output } from '../../contextd/v1/StopResponse.ts';

/**
 * ManagementService is the door of ctxd. The server takes the CLI's certificate only.
 */
export interface ManagementServiceClient extends grpc.Client {
  /**
   * CheckHealth exercises the live parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  CheckHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  CheckHealth(argument: _contextd_v1_HealthRequest, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  /**
   * CheckHealth exercises the live parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  checkHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;
  checkHealth(argument: _contextd_v1_HealthRequest, callback: grpc.requestCallback<_contextd_v1_HealthResponse__Output>): grpc.ClientUnaryCall;

  ListTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  ListTools(argument: _contextd_v1_ListRequest, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;
  listTools(argument: _contextd_v1_ListRequest, callback: grpc.requestCallback<_contextd_v1_ListResponse__Output>): grpc.ClientUnaryCall;

  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject takes that back.
   */
  RegisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  RegisterProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject takes that back.
   */
  registerProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;
  registerProject(argument: _contextd_v1_ProjectRequest, callback: grpc.requestCallback<_contextd_v1_ProjectResponse__Output>): grpc.ClientUnaryCall;

  ServerStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  ServerStatus(argument: _contextd_v1_StatusRequest, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;
  serverStatus(argument: _contextd_v1_StatusRequest, callback: grpc.requestCallback<_contextd_v1_StatusResponse__Output>): grpc.ClientUnaryCall;

  StopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  StopServer(argument: _contextd_v1_StopRequest, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;
  stopServer(argument: _contextd_v1_StopRequest, callback: grpc.requestCallback<_contextd_v1_StopResponse__Output>): grpc.ClientUnaryCall;

  TailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  TailAudit(argument: _contextd_v1_AuditRequest, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;
  tailAudit(argument: _contextd_v1_AuditRequest, callback: grpc.requestCallback<_contextd_v1_AuditResponse__Output>): grpc.ClientUnaryCall;

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
 * ManagementService is the door of ctxd. The server takes the CLI's certificate only.
 */
export interface ManagementServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * CheckHealth exercises the live parts: a sandboxed command, a masked canary, a counted text, the stores.
   */
  CheckHealth: grpc.handleUnaryCall<_contextd_v1_HealthRequest__Output, _contextd_v1_HealthResponse>;

  ListTools: grpc.handleUnaryCall<_contextd_v1_ListRequest__Output, _contextd_v1_ListResponse>;

  /**
   * RegisterProject accepts a root and the core tools for it; UnregisterProject takes that back.
   */
  RegisterProject: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse>;

  ServerStatus: grpc.handleUnaryCall<_contextd_v1_StatusRequest__Output, _contextd_v1_StatusResponse>;

  StopServer: grpc.handleUnaryCall<_contextd_v1_StopRequest__Output, _contextd_v1_StopResponse>;

  TailAudit: grpc.handleUnaryCall<_contextd_v1_AuditRequest__Output, _contextd_v1_AuditResponse>;

  UnregisterProject: grpc.handleUnaryCall<_contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse>;

}

export interface ManagementServiceDefinition extends grpc.ServiceDefinition {
  CheckHealth: MethodDefinition<_contextd_v1_HealthRequest, _contextd_v1_HealthResponse, _contextd_v1_HealthRequest__Output, _contextd_v1_HealthResponse__Output>
  ListTools: MethodDefinition<_contextd_v1_ListRequest, _contextd_v1_ListResponse, _contextd_v1_ListRequest__Output, _contextd_v1_ListResponse__Output>
  RegisterProject: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_ProjectResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse__Output>
  ServerStatus: MethodDefinition<_contextd_v1_StatusRequest, _contextd_v1_StatusResponse, _contextd_v1_StatusRequest__Output, _contextd_v1_StatusResponse__Output>
  StopServer: MethodDefinition<_contextd_v1_StopRequest, _contextd_v1_StopResponse, _contextd_v1_StopRequest__Output, _contextd_v1_StopResponse__Output>
  TailAudit: MethodDefinition<_contextd_v1_AuditRequest, _contextd_v1_AuditResponse, _contextd_v1_AuditRequest__Output, _contextd_v1_AuditResponse__Output>
  UnregisterProject: MethodDefinition<_contextd_v1_ProjectRequest, _contextd_v1_ProjectResponse, _contextd_v1_ProjectRequest__Output, _contextd_v1_ProjectResponse__Output>
}
