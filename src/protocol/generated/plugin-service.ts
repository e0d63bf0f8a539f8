// Original file: proto/contextd/v1/plugin.proto

import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { ToolHostClient as _contextd_v1_ToolHostClient, ToolHostDefinition as _contextd_v1_ToolHostDefinition } from './host-service.ts';
import type { ExecRequest as _contextd_v1_ExecRequest, ExecRequest__Output as _contextd_v1_ExecRequest__Output, ExecResponse as _contextd_v1_ExecResponse, ExecResponse__Output as _contextd_v1_ExecResponse__Output, HostRequest as _contextd_v1_HostRequest, HostRequest__Output as _contextd_v1_HostRequest__Output, HostResponse as _contextd_v1_HostResponse, HostResponse__Output as _contextd_v1_HostResponse__Output, LogRequest as _contextd_v1_LogRequest, LogRequest__Output as _contextd_v1_LogRequest__Output, LogResponse as _contextd_v1_LogResponse, LogResponse__Output as _contextd_v1_LogResponse__Output, OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output, ScrubRequest as _contextd_v1_ScrubRequest, ScrubRequest__Output as _contextd_v1_ScrubRequest__Output, ScrubResponse as _contextd_v1_ScrubResponse, ScrubResponse__Output as _contextd_v1_ScrubResponse__Output } from './host.ts';
import type { CallEvent as _contextd_v1_CallEvent, CallEvent__Output as _contextd_v1_CallEvent__Output, CallOutput as _contextd_v1_CallOutput, CallOutput__Output as _contextd_v1_CallOutput__Output, CallRequest as _contextd_v1_CallRequest, CallRequest__Output as _contextd_v1_CallRequest__Output, CancelRequest as _contextd_v1_CancelRequest, CancelRequest__Output as _contextd_v1_CancelRequest__Output, CancelResponse as _contextd_v1_CancelResponse, CancelResponse__Output as _contextd_v1_CancelResponse__Output, DescribeRequest as _contextd_v1_DescribeRequest, DescribeRequest__Output as _contextd_v1_DescribeRequest__Output, DescribeResponse as _contextd_v1_DescribeResponse, DescribeResponse__Output as _contextd_v1_DescribeResponse__Output, Failure as _contextd_v1_Failure, Failure__Output as _contextd_v1_Failure__Output, Findings as _contextd_v1_Findings, Findings__Output as _contextd_v1_Findings__Output, LeafSpans as _contextd_v1_LeafSpans, LeafSpans__Output as _contextd_v1_LeafSpans__Output, OutputStream as _contextd_v1_OutputStream, OutputStream__Output as _contextd_v1_OutputStream__Output, SecretSpan as _contextd_v1_SecretSpan, SecretSpan__Output as _contextd_v1_SecretSpan__Output, ShownPart as _contextd_v1_ShownPart, ShownPart__Output as _contextd_v1_ShownPart__Output } from './plugin.ts';

/**
 * A tool's process serves ToolPlugin in addition to go-plugin's own services. Application protocol version 1.
 */
export interface ToolPluginClient extends grpc.Client {
  /**
   * Call runs one call of one tool. The last event is `output` or `failure`; after an output that announces them, it is
   * `findings` or `failure`. Nothing follows the last event.
   */
  Call(argument: _contextd_v1_CallRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;
  Call(argument: _contextd_v1_CallRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;
  /**
   * Call runs one call of one tool. The last event is `output` or `failure`; after an output that announces them, it is
   * `findings` or `failure`. Nothing follows the last event.
   */
  call(argument: _contextd_v1_CallRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;
  call(argument: _contextd_v1_CallRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;

  /**
   * Cancel asks a call to end early and to answer with what it has so far. A tool without Cancel is cancelled by
   * the end of its stream.
   */
  Cancel(argument: _contextd_v1_CancelRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  Cancel(argument: _contextd_v1_CancelRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  Cancel(argument: _contextd_v1_CancelRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  Cancel(argument: _contextd_v1_CancelRequest, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Cancel asks a call to end early and to answer with what it has so far. A tool without Cancel is cancelled by
   * the end of its stream.
   */
  cancel(argument: _contextd_v1_CancelRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  cancel(argument: _contextd_v1_CancelRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  cancel(argument: _contextd_v1_CancelRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;
  cancel(argument: _contextd_v1_CancelRequest, callback: grpc.requestCallback<_contextd_v1_CancelResponse__Output>): grpc.ClientUnaryCall;

  /**
   * Describe is called once, after the handshake and before any call.
   */
  Describe(argument: _contextd_v1_DescribeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _contextd_v1_DescribeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _contextd_v1_DescribeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _contextd_v1_DescribeRequest, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Describe is called once, after the handshake and before any call.
   */
  describe(argument: _contextd_v1_DescribeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _contextd_v1_DescribeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _contextd_v1_DescribeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _contextd_v1_DescribeRequest, callback: grpc.requestCallback<_contextd_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;

}

/**
 * A tool's process serves ToolPlugin in addition to go-plugin's own services. Application protocol version 1.
 */
export interface ToolPluginHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Call runs one call of one tool. The last event is `output` or `failure`; after an output that announces them, it is
   * `findings` or `failure`. Nothing follows the last event.
   */
  Call: grpc.handleServerStreamingCall<_contextd_v1_CallRequest__Output, _contextd_v1_CallEvent>;

  /**
   * Cancel asks a call to end early and to answer with what it has so far. A tool without Cancel is cancelled by
   * the end of its stream.
   */
  Cancel: grpc.handleUnaryCall<_contextd_v1_CancelRequest__Output, _contextd_v1_CancelResponse>;

  /**
   * Describe is called once, after the handshake and before any call.
   */
  Describe: grpc.handleUnaryCall<_contextd_v1_DescribeRequest__Output, _contextd_v1_DescribeResponse>;

}

export interface ToolPluginDefinition extends grpc.ServiceDefinition {
  Call: MethodDefinition<_contextd_v1_CallRequest, _contextd_v1_CallEvent, _contextd_v1_CallRequest__Output, _contextd_v1_CallEvent__Output>
  Cancel: MethodDefinition<_contextd_v1_CancelRequest, _contextd_v1_CancelResponse, _contextd_v1_CancelRequest__Output, _contextd_v1_CancelResponse__Output>
  Describe: MethodDefinition<_contextd_v1_DescribeRequest, _contextd_v1_DescribeResponse, _contextd_v1_DescribeRequest__Output, _contextd_v1_DescribeResponse__Output>
}

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      CallEvent: MessageTypeDefinition<_contextd_v1_CallEvent, _contextd_v1_CallEvent__Output>
      CallOutput: MessageTypeDefinition<_contextd_v1_CallOutput, _contextd_v1_CallOutput__Output>
      CallRequest: MessageTypeDefinition<_contextd_v1_CallRequest, _contextd_v1_CallRequest__Output>
      CancelReason: EnumTypeDefinition
      CancelRequest: MessageTypeDefinition<_contextd_v1_CancelRequest, _contextd_v1_CancelRequest__Output>
      CancelResponse: MessageTypeDefinition<_contextd_v1_CancelResponse, _contextd_v1_CancelResponse__Output>
      DescribeRequest: MessageTypeDefinition<_contextd_v1_DescribeRequest, _contextd_v1_DescribeRequest__Output>
      DescribeResponse: MessageTypeDefinition<_contextd_v1_DescribeResponse, _contextd_v1_DescribeResponse__Output>
      ExecRequest: MessageTypeDefinition<_contextd_v1_ExecRequest, _contextd_v1_ExecRequest__Output>
      ExecResponse: MessageTypeDefinition<_contextd_v1_ExecResponse, _contextd_v1_ExecResponse__Output>
      Failure: MessageTypeDefinition<_contextd_v1_Failure, _contextd_v1_Failure__Output>
      Findings: MessageTypeDefinition<_contextd_v1_Findings, _contextd_v1_Findings__Output>
      HostRequest: MessageTypeDefinition<_contextd_v1_HostRequest, _contextd_v1_HostRequest__Output>
      HostResponse: MessageTypeDefinition<_contextd_v1_HostResponse, _contextd_v1_HostResponse__Output>
      LeafSpans: MessageTypeDefinition<_contextd_v1_LeafSpans, _contextd_v1_LeafSpans__Output>
      LogRequest: MessageTypeDefinition<_contextd_v1_LogRequest, _contextd_v1_LogRequest__Output>
      LogResponse: MessageTypeDefinition<_contextd_v1_LogResponse, _contextd_v1_LogResponse__Output>
      OutputGap: MessageTypeDefinition<_contextd_v1_OutputGap, _contextd_v1_OutputGap__Output>
      OutputStream: MessageTypeDefinition<_contextd_v1_OutputStream, _contextd_v1_OutputStream__Output>
      ScrubRequest: MessageTypeDefinition<_contextd_v1_ScrubRequest, _contextd_v1_ScrubRequest__Output>
      ScrubResponse: MessageTypeDefinition<_contextd_v1_ScrubResponse, _contextd_v1_ScrubResponse__Output>
      SecretSpan: MessageTypeDefinition<_contextd_v1_SecretSpan, _contextd_v1_SecretSpan__Output>
      ShownPart: MessageTypeDefinition<_contextd_v1_ShownPart, _contextd_v1_ShownPart__Output>
      /**
       * The daemon serves ToolHost to a tool's process through go-plugin's broker. Every request names the call it
       * belongs to. A method that tool.json does not grant answers PERMISSION_DENIED; faults carry the code of
       * docs/errors.md in the trailer `contextd-code`.
       */
      ToolHost: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ToolHostClient> & { service: _contextd_v1_ToolHostDefinition }
      /**
       * A tool's process serves ToolPlugin in addition to go-plugin's own services. Application protocol version 1.
       */
      ToolPlugin: SubtypeConstructor<typeof grpc.Client, ToolPluginClient> & { service: ToolPluginDefinition }
    }
  }
}
