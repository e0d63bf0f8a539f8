import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { CallEvent as _contextd_v1_CallEvent, CallEvent__Output as _contextd_v1_CallEvent__Output } from './contextd/v1/CallEvent.ts';
import type { CallOutput as _contextd_v1_CallOutput, CallOutput__Output as _contextd_v1_CallOutput__Output } from './contextd/v1/CallOutput.ts';
import type { CallRequest as _contextd_v1_CallRequest, CallRequest__Output as _contextd_v1_CallRequest__Output } from './contextd/v1/CallRequest.ts';
import type { CancelRequest as _contextd_v1_CancelRequest, CancelRequest__Output as _contextd_v1_CancelRequest__Output } from './contextd/v1/CancelRequest.ts';
import type { CancelResponse as _contextd_v1_CancelResponse, CancelResponse__Output as _contextd_v1_CancelResponse__Output } from './contextd/v1/CancelResponse.ts';
import type { DescribeRequest as _contextd_v1_DescribeRequest, DescribeRequest__Output as _contextd_v1_DescribeRequest__Output } from './contextd/v1/DescribeRequest.ts';
import type { DescribeResponse as _contextd_v1_DescribeResponse, DescribeResponse__Output as _contextd_v1_DescribeResponse__Output } from './contextd/v1/DescribeResponse.ts';
import type { Failure as _contextd_v1_Failure, Failure__Output as _contextd_v1_Failure__Output } from './contextd/v1/Failure.ts';
import type { LeafSpans as _contextd_v1_LeafSpans, LeafSpans__Output as _contextd_v1_LeafSpans__Output } from './contextd/v1/LeafSpans.ts';
import type { OutputStream as _contextd_v1_OutputStream, OutputStream__Output as _contextd_v1_OutputStream__Output } from './contextd/v1/OutputStream.ts';
import type { Scanning as _contextd_v1_Scanning, Scanning__Output as _contextd_v1_Scanning__Output } from './contextd/v1/Scanning.ts';
import type { SecretSpan as _contextd_v1_SecretSpan, SecretSpan__Output as _contextd_v1_SecretSpan__Output } from './contextd/v1/SecretSpan.ts';
import type { ToolPluginClient as _contextd_v1_ToolPluginClient, ToolPluginDefinition as _contextd_v1_ToolPluginDefinition } from './contextd/v1/ToolPlugin.ts';

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
      Failure: MessageTypeDefinition<_contextd_v1_Failure, _contextd_v1_Failure__Output>
      LeafSpans: MessageTypeDefinition<_contextd_v1_LeafSpans, _contextd_v1_LeafSpans__Output>
      OutputStream: MessageTypeDefinition<_contextd_v1_OutputStream, _contextd_v1_OutputStream__Output>
      Scanning: MessageTypeDefinition<_contextd_v1_Scanning, _contextd_v1_Scanning__Output>
      SecretSpan: MessageTypeDefinition<_contextd_v1_SecretSpan, _contextd_v1_SecretSpan__Output>
      /**
       * A tool's process serves ToolPlugin in addition to go-plugin's own services. Application protocol version 1.
       */
      ToolPlugin: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ToolPluginClient> & { service: _contextd_v1_ToolPluginDefinition }
    }
  }
}

