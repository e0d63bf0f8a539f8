// Original file: proto/contextd/v1/tool.proto

import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { CallContext as _contextd_v1_CallContext, CallContext__Output as _contextd_v1_CallContext__Output, CallableTool as _contextd_v1_CallableTool, CallableTool__Output as _contextd_v1_CallableTool__Output, CallableTools as _contextd_v1_CallableTools, CallableTools__Output as _contextd_v1_CallableTools__Output, ClientHookAnswer as _contextd_v1_ClientHookAnswer, ClientHookAnswer__Output as _contextd_v1_ClientHookAnswer__Output, ClientHookRequest as _contextd_v1_ClientHookRequest, ClientHookRequest__Output as _contextd_v1_ClientHookRequest__Output, ExecuteEvent as _contextd_v1_ExecuteEvent, ExecuteEvent__Output as _contextd_v1_ExecuteEvent__Output, ExecuteRequest as _contextd_v1_ExecuteRequest, ExecuteRequest__Output as _contextd_v1_ExecuteRequest__Output, ExecuteResponse as _contextd_v1_ExecuteResponse, ExecuteResponse__Output as _contextd_v1_ExecuteResponse__Output, FollowRequest as _contextd_v1_FollowRequest, FollowRequest__Output as _contextd_v1_FollowRequest__Output, PassedEvent as _contextd_v1_PassedEvent, PassedEvent__Output as _contextd_v1_PassedEvent__Output, PassedQuestion as _contextd_v1_PassedQuestion, PassedQuestion__Output as _contextd_v1_PassedQuestion__Output, PassedRequest as _contextd_v1_PassedRequest, PassedRequest__Output as _contextd_v1_PassedRequest__Output, Progress as _contextd_v1_Progress, Progress__Output as _contextd_v1_Progress__Output, QuestionAnswer as _contextd_v1_QuestionAnswer, QuestionAnswer__Output as _contextd_v1_QuestionAnswer__Output, QuestionReceipt as _contextd_v1_QuestionReceipt, QuestionReceipt__Output as _contextd_v1_QuestionReceipt__Output, RefusalReceipt as _contextd_v1_RefusalReceipt, RefusalReceipt__Output as _contextd_v1_RefusalReceipt__Output, RefusalReport as _contextd_v1_RefusalReport, RefusalReport__Output as _contextd_v1_RefusalReport__Output, SchemaRequest as _contextd_v1_SchemaRequest, SchemaRequest__Output as _contextd_v1_SchemaRequest__Output, SchemaResponse as _contextd_v1_SchemaResponse, SchemaResponse__Output as _contextd_v1_SchemaResponse__Output, WatchToolsRequest as _contextd_v1_WatchToolsRequest, WatchToolsRequest__Output as _contextd_v1_WatchToolsRequest__Output } from './tool.ts';

/**
 * ToolService serves the proxy: one call, one answer.
 */
export interface ToolServiceClient extends grpc.Client {
  /**
   * AnswerHook judges or masks a call of a tool of the client's own, which contextd-hook read from its standard input.
   */
  AnswerHook(argument: _contextd_v1_ClientHookRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  AnswerHook(argument: _contextd_v1_ClientHookRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  AnswerHook(argument: _contextd_v1_ClientHookRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  AnswerHook(argument: _contextd_v1_ClientHookRequest, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  /**
   * AnswerHook judges or masks a call of a tool of the client's own, which contextd-hook read from its standard input.
   */
  answerHook(argument: _contextd_v1_ClientHookRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  answerHook(argument: _contextd_v1_ClientHookRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  answerHook(argument: _contextd_v1_ClientHookRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;
  answerHook(argument: _contextd_v1_ClientHookRequest, callback: grpc.requestCallback<_contextd_v1_ClientHookAnswer__Output>): grpc.ClientUnaryCall;

  /**
   * AnswerQuestion is the client's answer to a question of Pass. An answer that nothing waits for is dropped.
   */
  AnswerQuestion(argument: _contextd_v1_QuestionAnswer, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  AnswerQuestion(argument: _contextd_v1_QuestionAnswer, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  AnswerQuestion(argument: _contextd_v1_QuestionAnswer, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  AnswerQuestion(argument: _contextd_v1_QuestionAnswer, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  /**
   * AnswerQuestion is the client's answer to a question of Pass. An answer that nothing waits for is dropped.
   */
  answerQuestion(argument: _contextd_v1_QuestionAnswer, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  answerQuestion(argument: _contextd_v1_QuestionAnswer, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  answerQuestion(argument: _contextd_v1_QuestionAnswer, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;
  answerQuestion(argument: _contextd_v1_QuestionAnswer, callback: grpc.requestCallback<_contextd_v1_QuestionReceipt__Output>): grpc.ClientUnaryCall;

  /**
   * Execute runs one tool through the nine steps. A refused or failed call is an answer, not a gRPC error;
   * gRPC errors are for transport faults only (certificate, message size, cancelled, daemon stopping).
   */
  Execute(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  Execute(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  Execute(argument: _contextd_v1_ExecuteRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  Execute(argument: _contextd_v1_ExecuteRequest, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Execute runs one tool through the nine steps. A refused or failed call is an answer, not a gRPC error;
   * gRPC errors are for transport faults only (certificate, message size, cancelled, daemon stopping).
   */
  execute(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  execute(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  execute(argument: _contextd_v1_ExecuteRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;
  execute(argument: _contextd_v1_ExecuteRequest, callback: grpc.requestCallback<_contextd_v1_ExecuteResponse__Output>): grpc.ClientUnaryCall;

  /**
   * ExecuteWithProgress is Execute with the output of running commands: any number of progress events, then the
   * answer, which is the last event and the same as Execute's.
   */
  ExecuteWithProgress(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_ExecuteEvent__Output>;
  ExecuteWithProgress(argument: _contextd_v1_ExecuteRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_ExecuteEvent__Output>;
  /**
   * ExecuteWithProgress is Execute with the output of running commands: any number of progress events, then the
   * answer, which is the last event and the same as Execute's.
   */
  executeWithProgress(argument: _contextd_v1_ExecuteRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_ExecuteEvent__Output>;
  executeWithProgress(argument: _contextd_v1_ExecuteRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_ExecuteEvent__Output>;

  /**
   * FollowServers opens what MCP servers keep for an MCP client. The first event names the client; then come notices that
   * belong to no request, until the call ends. What servers keep ends with it.
   */
  FollowServers(argument: _contextd_v1_FollowRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  FollowServers(argument: _contextd_v1_FollowRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  /**
   * FollowServers opens what MCP servers keep for an MCP client. The first event names the client; then come notices that
   * belong to no request, until the call ends. What servers keep ends with it.
   */
  followServers(argument: _contextd_v1_FollowRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  followServers(argument: _contextd_v1_FollowRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;

  /**
   * GetSchema returns what the daemon accepted for a tool, never files of the workspace.
   */
  GetSchema(argument: _contextd_v1_SchemaRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  GetSchema(argument: _contextd_v1_SchemaRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  GetSchema(argument: _contextd_v1_SchemaRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  GetSchema(argument: _contextd_v1_SchemaRequest, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  /**
   * GetSchema returns what the daemon accepted for a tool, never files of the workspace.
   */
  getSchema(argument: _contextd_v1_SchemaRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  getSchema(argument: _contextd_v1_SchemaRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  getSchema(argument: _contextd_v1_SchemaRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;
  getSchema(argument: _contextd_v1_SchemaRequest, callback: grpc.requestCallback<_contextd_v1_SchemaResponse__Output>): grpc.ClientUnaryCall;

  /**
   * Pass passes a request of an MCP client on to the MCP servers of its project. Any number of notices and questions come
   * first; the last event is the answer.
   */
  Pass(argument: _contextd_v1_PassedRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  Pass(argument: _contextd_v1_PassedRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  /**
   * Pass passes a request of an MCP client on to the MCP servers of its project. Any number of notices and questions come
   * first; the last event is the answer.
   */
  pass(argument: _contextd_v1_PassedRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;
  pass(argument: _contextd_v1_PassedRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_PassedEvent__Output>;

  /**
   * ReportRefusal records a call that the proxy itself refused and answered. Nothing runs.
   */
  ReportRefusal(argument: _contextd_v1_RefusalReport, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  ReportRefusal(argument: _contextd_v1_RefusalReport, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  ReportRefusal(argument: _contextd_v1_RefusalReport, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  ReportRefusal(argument: _contextd_v1_RefusalReport, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  /**
   * ReportRefusal records a call that the proxy itself refused and answered. Nothing runs.
   */
  reportRefusal(argument: _contextd_v1_RefusalReport, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  reportRefusal(argument: _contextd_v1_RefusalReport, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  reportRefusal(argument: _contextd_v1_RefusalReport, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;
  reportRefusal(argument: _contextd_v1_RefusalReport, callback: grpc.requestCallback<_contextd_v1_RefusalReceipt__Output>): grpc.ClientUnaryCall;

  /**
   * WatchTools returns the tools that calls of a project may name, as soon as they differ from those of the given version.
   */
  WatchTools(argument: _contextd_v1_WatchToolsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  WatchTools(argument: _contextd_v1_WatchToolsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  WatchTools(argument: _contextd_v1_WatchToolsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  WatchTools(argument: _contextd_v1_WatchToolsRequest, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  /**
   * WatchTools returns the tools that calls of a project may name, as soon as they differ from those of the given version.
   */
  watchTools(argument: _contextd_v1_WatchToolsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  watchTools(argument: _contextd_v1_WatchToolsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  watchTools(argument: _contextd_v1_WatchToolsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;
  watchTools(argument: _contextd_v1_WatchToolsRequest, callback: grpc.requestCallback<_contextd_v1_CallableTools__Output>): grpc.ClientUnaryCall;

}

/**
 * ToolService serves the proxy: one call, one answer.
 */
export interface ToolServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * AnswerHook judges or masks a call of a tool of the client's own, which contextd-hook read from its standard input.
   */
  AnswerHook: grpc.handleUnaryCall<_contextd_v1_ClientHookRequest__Output, _contextd_v1_ClientHookAnswer>;

  /**
   * AnswerQuestion is the client's answer to a question of Pass. An answer that nothing waits for is dropped.
   */
  AnswerQuestion: grpc.handleUnaryCall<_contextd_v1_QuestionAnswer__Output, _contextd_v1_QuestionReceipt>;

  /**
   * Execute runs one tool through the nine steps. A refused or failed call is an answer, not a gRPC error;
   * gRPC errors are for transport faults only (certificate, message size, cancelled, daemon stopping).
   */
  Execute: grpc.handleUnaryCall<_contextd_v1_ExecuteRequest__Output, _contextd_v1_ExecuteResponse>;

  /**
   * ExecuteWithProgress is Execute with the output of running commands: any number of progress events, then the
   * answer, which is the last event and the same as Execute's.
   */
  ExecuteWithProgress: grpc.handleServerStreamingCall<_contextd_v1_ExecuteRequest__Output, _contextd_v1_ExecuteEvent>;

  /**
   * FollowServers opens what MCP servers keep for an MCP client. The first event names the client; then come notices that
   * belong to no request, until the call ends. What servers keep ends with it.
   */
  FollowServers: grpc.handleServerStreamingCall<_contextd_v1_FollowRequest__Output, _contextd_v1_PassedEvent>;

  /**
   * GetSchema returns what the daemon accepted for a tool, never files of the workspace.
   */
  GetSchema: grpc.handleUnaryCall<_contextd_v1_SchemaRequest__Output, _contextd_v1_SchemaResponse>;

  /**
   * Pass passes a request of an MCP client on to the MCP servers of its project. Any number of notices and questions come
   * first; the last event is the answer.
   */
  Pass: grpc.handleServerStreamingCall<_contextd_v1_PassedRequest__Output, _contextd_v1_PassedEvent>;

  /**
   * ReportRefusal records a call that the proxy itself refused and answered. Nothing runs.
   */
  ReportRefusal: grpc.handleUnaryCall<_contextd_v1_RefusalReport__Output, _contextd_v1_RefusalReceipt>;

  /**
   * WatchTools returns the tools that calls of a project may name, as soon as they differ from those of the given version.
   */
  WatchTools: grpc.handleUnaryCall<_contextd_v1_WatchToolsRequest__Output, _contextd_v1_CallableTools>;

}

export interface ToolServiceDefinition extends grpc.ServiceDefinition {
  AnswerHook: MethodDefinition<_contextd_v1_ClientHookRequest, _contextd_v1_ClientHookAnswer, _contextd_v1_ClientHookRequest__Output, _contextd_v1_ClientHookAnswer__Output>
  AnswerQuestion: MethodDefinition<_contextd_v1_QuestionAnswer, _contextd_v1_QuestionReceipt, _contextd_v1_QuestionAnswer__Output, _contextd_v1_QuestionReceipt__Output>
  Execute: MethodDefinition<_contextd_v1_ExecuteRequest, _contextd_v1_ExecuteResponse, _contextd_v1_ExecuteRequest__Output, _contextd_v1_ExecuteResponse__Output>
  ExecuteWithProgress: MethodDefinition<_contextd_v1_ExecuteRequest, _contextd_v1_ExecuteEvent, _contextd_v1_ExecuteRequest__Output, _contextd_v1_ExecuteEvent__Output>
  FollowServers: MethodDefinition<_contextd_v1_FollowRequest, _contextd_v1_PassedEvent, _contextd_v1_FollowRequest__Output, _contextd_v1_PassedEvent__Output>
  GetSchema: MethodDefinition<_contextd_v1_SchemaRequest, _contextd_v1_SchemaResponse, _contextd_v1_SchemaRequest__Output, _contextd_v1_SchemaResponse__Output>
  Pass: MethodDefinition<_contextd_v1_PassedRequest, _contextd_v1_PassedEvent, _contextd_v1_PassedRequest__Output, _contextd_v1_PassedEvent__Output>
  ReportRefusal: MethodDefinition<_contextd_v1_RefusalReport, _contextd_v1_RefusalReceipt, _contextd_v1_RefusalReport__Output, _contextd_v1_RefusalReceipt__Output>
  WatchTools: MethodDefinition<_contextd_v1_WatchToolsRequest, _contextd_v1_CallableTools, _contextd_v1_WatchToolsRequest__Output, _contextd_v1_CallableTools__Output>
}

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      CallContext: MessageTypeDefinition<_contextd_v1_CallContext, _contextd_v1_CallContext__Output>
      CallDoor: EnumTypeDefinition
      CallForm: EnumTypeDefinition
      CallableTool: MessageTypeDefinition<_contextd_v1_CallableTool, _contextd_v1_CallableTool__Output>
      CallableTools: MessageTypeDefinition<_contextd_v1_CallableTools, _contextd_v1_CallableTools__Output>
      ClientHookAnswer: MessageTypeDefinition<_contextd_v1_ClientHookAnswer, _contextd_v1_ClientHookAnswer__Output>
      ClientHookRequest: MessageTypeDefinition<_contextd_v1_ClientHookRequest, _contextd_v1_ClientHookRequest__Output>
      ExecuteEvent: MessageTypeDefinition<_contextd_v1_ExecuteEvent, _contextd_v1_ExecuteEvent__Output>
      ExecuteRequest: MessageTypeDefinition<_contextd_v1_ExecuteRequest, _contextd_v1_ExecuteRequest__Output>
      ExecuteResponse: MessageTypeDefinition<_contextd_v1_ExecuteResponse, _contextd_v1_ExecuteResponse__Output>
      FollowRequest: MessageTypeDefinition<_contextd_v1_FollowRequest, _contextd_v1_FollowRequest__Output>
      PassedEvent: MessageTypeDefinition<_contextd_v1_PassedEvent, _contextd_v1_PassedEvent__Output>
      PassedQuestion: MessageTypeDefinition<_contextd_v1_PassedQuestion, _contextd_v1_PassedQuestion__Output>
      PassedRequest: MessageTypeDefinition<_contextd_v1_PassedRequest, _contextd_v1_PassedRequest__Output>
      Progress: MessageTypeDefinition<_contextd_v1_Progress, _contextd_v1_Progress__Output>
      QuestionAnswer: MessageTypeDefinition<_contextd_v1_QuestionAnswer, _contextd_v1_QuestionAnswer__Output>
      QuestionReceipt: MessageTypeDefinition<_contextd_v1_QuestionReceipt, _contextd_v1_QuestionReceipt__Output>
      RefusalReceipt: MessageTypeDefinition<_contextd_v1_RefusalReceipt, _contextd_v1_RefusalReceipt__Output>
      RefusalReport: MessageTypeDefinition<_contextd_v1_RefusalReport, _contextd_v1_RefusalReport__Output>
      SchemaRequest: MessageTypeDefinition<_contextd_v1_SchemaRequest, _contextd_v1_SchemaRequest__Output>
      SchemaResponse: MessageTypeDefinition<_contextd_v1_SchemaResponse, _contextd_v1_SchemaResponse__Output>
      /**
       * ToolService serves the proxy: one call, one answer.
       */
      ToolService: SubtypeConstructor<typeof grpc.Client, ToolServiceClient> & { service: ToolServiceDefinition }
      WatchToolsRequest: MessageTypeDefinition<_contextd_v1_WatchToolsRequest, _contextd_v1_WatchToolsRequest__Output>
    }
  }
}
