import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { CallEvent as _contextd_v1_CallEvent, CallEvent__Output as _contextd_v1_CallEvent__Output } from './contextd/v1/CallEvent.ts';
import type { CallOutput as _contextd_v1_CallOutput, CallOutput__Output as _contextd_v1_CallOutput__Output } from './contextd/v1/CallOutput.ts';
import type { CallRequest as _contextd_v1_CallRequest, CallRequest__Output as _contextd_v1_CallRequest__Output } from './contextd/v1/CallRequest.ts';
import type { CancelRequest as _contextd_v1_CancelRequest, CancelRequest__Output as _contextd_v1_CancelRequest__Output } from './contextd/v1/CancelRequest.ts';
import type { CancelResponse as _contextd_v1_CancelResponse, CancelResponse__Output as _contextd_v1_CancelResponse__Output } from './contextd/v1/CancelResponse.ts';
import type { DescribeRequest as _contextd_v1_DescribeRequest, DescribeRequest__Output as _contextd_v1_DescribeRequest__Output } from './contextd/v1/DescribeRequest.ts';
import type { DescribeResponse as _contextd_v1_DescribeResponse, DescribeResponse__Output as _contextd_v1_DescribeResponse__Output } from './contextd/v1/DescribeResponse.ts';
import type { ExecRequest as _contextd_v1_ExecRequest, ExecRequest__Output as _contextd_v1_ExecRequest__Output } from './contextd/v1/ExecRequest.ts';
import type { ExecResponse as _contextd_v1_ExecResponse, ExecResponse__Output as _contextd_v1_ExecResponse__Output } from './contextd/v1/ExecResponse.ts';
import type { Failure as _contextd_v1_Failure, Failure__Output as _contextd_v1_Failure__Output } from './contextd/v1/Failure.ts';
import type { HostRequest as _contextd_v1_HostRequest, HostRequest__Output as _contextd_v1_HostRequest__Output } from './contextd/v1/HostRequest.ts';
import type { HostResponse as _contextd_v1_HostResponse, HostResponse__Output as _contextd_v1_HostResponse__Output } from './contextd/v1/HostResponse.ts';
import type { LeafSpans as _contextd_v1_LeafSpans, LeafSpans__Output as _contextd_v1_LeafSpans__Output } from './contextd/v1/LeafSpans.ts';
import type { LogRequest as _contextd_v1_LogRequest, LogRequest__Output as _contextd_v1_LogRequest__Output } from './contextd/v1/LogRequest.ts';
import type { LogResponse as _contextd_v1_LogResponse, LogResponse__Output as _contextd_v1_LogResponse__Output } from './contextd/v1/LogResponse.ts';
import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from './contextd/v1/OutputGap.ts';
import type { OutputStream as _contextd_v1_OutputStream, OutputStream__Output as _contextd_v1_OutputStream__Output } from './contextd/v1/OutputStream.ts';
import type { Scanning as _contextd_v1_Scanning, Scanning__Output as _contextd_v1_Scanning__Output } from './contextd/v1/Scanning.ts';
import type { ScrubRequest as _contextd_v1_ScrubRequest, ScrubRequest__Output as _contextd_v1_ScrubRequest__Output } from './contextd/v1/ScrubRequest.ts';
import type { ScrubResponse as _contextd_v1_ScrubResponse, ScrubResponse__Output as _contextd_v1_ScrubResponse__Output } from './contextd/v1/ScrubResponse.ts';
import type { SecretSpan as _contextd_v1_SecretSpan, SecretSpan__Output as _contextd_v1_SecretSpan__Output } from './contextd/v1/SecretSpan.ts';
import type { ShownPart as _contextd_v1_ShownPart, ShownPart__Output as _contextd_v1_ShownPart__Output } from './contextd/v1/ShownPart.ts';
import type { ToolHostClient as _contextd_v1_ToolHostClient, ToolHostDefinition as _contextd_v1_ToolHostDefinition } from './contextd/v1/ToolHost.ts';
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
      ExecRequest: MessageTypeDefinition<_contextd_v1_ExecRequest, _contextd_v1_ExecRequest__Output>
      ExecResponse: MessageTypeDefinition<_contextd_v1_ExecResponse, _contextd_v1_ExecResponse__Output>
      Failure: MessageTypeDefinition<_contextd_v1_Failure, _contextd_v1_Failure__Output>
      HostRequest: MessageTypeDefinition<_contextd_v1_HostRequest, _contextd_v1_HostRequest__Output>
      HostResponse: MessageTypeDefinition<_contextd_v1_HostResponse, _contextd_v1_HostResponse__Output>
      LeafSpans: MessageTypeDefinition<_contextd_v1_LeafSpans, _contextd_v1_LeafSpans__Output>
      LogRequest: MessageTypeDefinition<_contextd_v1_LogRequest, _contextd_v1_LogRequest__Output>
      LogResponse: MessageTypeDefinition<_contextd_v1_LogResponse, _contextd_v1_LogResponse__Output>
      OutputGap: MessageTypeDefinition<_contextd_v1_OutputGap, _contextd_v1_OutputGap__Output>
      OutputStream: MessageTypeDefinition<_contextd_v1_OutputStream, _contextd_v1_OutputStream__Output>
      Scanning: MessageTypeDefinition<_contextd_v1_Scanning, _contextd_v1_Scanning__Output>
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
      ToolPlugin: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ToolPluginClient> & { service: _contextd_v1_ToolPluginDefinition }
    }
  }
}

