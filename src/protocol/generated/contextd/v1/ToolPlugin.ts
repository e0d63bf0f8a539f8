// Original file: proto/contextd/v1/plugin.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { CallEvent as _contextd_v1_CallEvent, CallEvent__Output as _contextd_v1_CallEvent__Output } from '../../contextd/v1/CallEvent.ts';
import type { CallRequest as _contextd_v1_CallRequest, CallRequest__Output as _contextd_v1_CallRequest__Output } from '../../contextd/v1/CallRequest.ts';
import type { CancelRequest as _contextd_v1_CancelRequest, CancelRequest__Output as _contextd_v1_CancelRequest__Output } from '../../contextd/v1/CancelRequest.ts';
import type { CancelResponse as _contextd_v1_CancelResponse, CancelResponse__Output as _contextd_v1_CancelResponse__Output } from '../../contextd/v1/CancelResponse.ts';
import type { DescribeRequest as _contextd_v1_DescribeRequest, DescribeRequest__Output as _contextd_v1_DescribeRequest__Output } from '../../contextd/v1/DescribeRequest.ts';
import type { DescribeResponse as _contextd_v1_DescribeResponse, DescribeResponse__Output as _contextd_v1_DescribeResponse__Output } from '../../contextd/v1/DescribeResponse.ts';

/**
 * A tool's process serves ToolPlugin in addition to go-plugin's own services. Application protocol version 1.
 */
export interface ToolPluginClient extends grpc.Client {
  /**
   * Call runs one call of one tool. The last event is `output` or `failure`; nothing follows it.
   */
  Call(argument: _contextd_v1_CallRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;
  Call(argument: _contextd_v1_CallRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_contextd_v1_CallEvent__Output>;
  /**
   * Call runs one call of one tool. The last event is `output` or `failure`; nothing follows it.
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
   * Call runs one call of one tool. The last event is `output` or `failure`; nothing follows it.
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
