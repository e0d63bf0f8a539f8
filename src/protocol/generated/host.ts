import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { ExecRequest as _contextd_v1_ExecRequest, ExecRequest__Output as _contextd_v1_ExecRequest__Output } from './contextd/v1/ExecRequest.ts';
import type { ExecResponse as _contextd_v1_ExecResponse, ExecResponse__Output as _contextd_v1_ExecResponse__Output } from './contextd/v1/ExecResponse.ts';
import type { HostRequest as _contextd_v1_HostRequest, HostRequest__Output as _contextd_v1_HostRequest__Output } from './contextd/v1/HostRequest.ts';
import type { HostResponse as _contextd_v1_HostResponse, HostResponse__Output as _contextd_v1_HostResponse__Output } from './contextd/v1/HostResponse.ts';
import type { LogRequest as _contextd_v1_LogRequest, LogRequest__Output as _contextd_v1_LogRequest__Output } from './contextd/v1/LogRequest.ts';
import type { LogResponse as _contextd_v1_LogResponse, LogResponse__Output as _contextd_v1_LogResponse__Output } from './contextd/v1/LogResponse.ts';
import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from './contextd/v1/OutputGap.ts';
import type { ScrubRequest as _contextd_v1_ScrubRequest, ScrubRequest__Output as _contextd_v1_ScrubRequest__Output } from './contextd/v1/ScrubRequest.ts';
import type { ScrubResponse as _contextd_v1_ScrubResponse, ScrubResponse__Output as _contextd_v1_ScrubResponse__Output } from './contextd/v1/ScrubResponse.ts';
import type { ToolHostClient as _contextd_v1_ToolHostClient, ToolHostDefinition as _contextd_v1_ToolHostDefinition } from './contextd/v1/ToolHost.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      ExecRequest: MessageTypeDefinition<_contextd_v1_ExecRequest, _contextd_v1_ExecRequest__Output>
      ExecResponse: MessageTypeDefinition<_contextd_v1_ExecResponse, _contextd_v1_ExecResponse__Output>
      HostRequest: MessageTypeDefinition<_contextd_v1_HostRequest, _contextd_v1_HostRequest__Output>
      HostResponse: MessageTypeDefinition<_contextd_v1_HostResponse, _contextd_v1_HostResponse__Output>
      LogRequest: MessageTypeDefinition<_contextd_v1_LogRequest, _contextd_v1_LogRequest__Output>
      LogResponse: MessageTypeDefinition<_contextd_v1_LogResponse, _contextd_v1_LogResponse__Output>
      OutputGap: MessageTypeDefinition<_contextd_v1_OutputGap, _contextd_v1_OutputGap__Output>
      ScrubRequest: MessageTypeDefinition<_contextd_v1_ScrubRequest, _contextd_v1_ScrubRequest__Output>
      ScrubResponse: MessageTypeDefinition<_contextd_v1_ScrubResponse, _contextd_v1_ScrubResponse__Output>
      /**
       * The daemon serves ToolHost to a tool's process through go-plugin's broker. Every request names the call it
       * belongs to. A method that tool.json does not grant answers PERMISSION_DENIED; faults carry the code of
       * docs/errors.md in the trailer `contextd-code`.
       */
      ToolHost: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ToolHostClient> & { service: _contextd_v1_ToolHostDefinition }
    }
  }
}

