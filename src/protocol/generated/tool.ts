import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { CallContext as _contextd_v1_CallContext, CallContext__Output as _contextd_v1_CallContext__Output } from './contextd/v1/CallContext.ts';
import type { ExecuteEvent as _contextd_v1_ExecuteEvent, ExecuteEvent__Output as _contextd_v1_ExecuteEvent__Output } from './contextd/v1/ExecuteEvent.ts';
import type { ExecuteRequest as _contextd_v1_ExecuteRequest, ExecuteRequest__Output as _contextd_v1_ExecuteRequest__Output } from './contextd/v1/ExecuteRequest.ts';
import type { ExecuteResponse as _contextd_v1_ExecuteResponse, ExecuteResponse__Output as _contextd_v1_ExecuteResponse__Output } from './contextd/v1/ExecuteResponse.ts';
import type { Progress as _contextd_v1_Progress, Progress__Output as _contextd_v1_Progress__Output } from './contextd/v1/Progress.ts';
import type { RefusalReceipt as _contextd_v1_RefusalReceipt, RefusalReceipt__Output as _contextd_v1_RefusalReceipt__Output } from './contextd/v1/RefusalReceipt.ts';
import type { RefusalReport as _contextd_v1_RefusalReport, RefusalReport__Output as _contextd_v1_RefusalReport__Output } from './contextd/v1/RefusalReport.ts';
import type { SchemaRequest as _contextd_v1_SchemaRequest, SchemaRequest__Output as _contextd_v1_SchemaRequest__Output } from './contextd/v1/SchemaRequest.ts';
import type { SchemaResponse as _contextd_v1_SchemaResponse, SchemaResponse__Output as _contextd_v1_SchemaResponse__Output } from './contextd/v1/SchemaResponse.ts';
import type { ToolServiceClient as _contextd_v1_ToolServiceClient, ToolServiceDefinition as _contextd_v1_ToolServiceDefinition } from './contextd/v1/ToolService.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      CallContext: MessageTypeDefinition<_contextd_v1_CallContext, _contextd_v1_CallContext__Output>
      CallForm: EnumTypeDefinition
      ExecuteEvent: MessageTypeDefinition<_contextd_v1_ExecuteEvent, _contextd_v1_ExecuteEvent__Output>
      ExecuteRequest: MessageTypeDefinition<_contextd_v1_ExecuteRequest, _contextd_v1_ExecuteRequest__Output>
      ExecuteResponse: MessageTypeDefinition<_contextd_v1_ExecuteResponse, _contextd_v1_ExecuteResponse__Output>
      Progress: MessageTypeDefinition<_contextd_v1_Progress, _contextd_v1_Progress__Output>
      RefusalReceipt: MessageTypeDefinition<_contextd_v1_RefusalReceipt, _contextd_v1_RefusalReceipt__Output>
      RefusalReport: MessageTypeDefinition<_contextd_v1_RefusalReport, _contextd_v1_RefusalReport__Output>
      SchemaRequest: MessageTypeDefinition<_contextd_v1_SchemaRequest, _contextd_v1_SchemaRequest__Output>
      SchemaResponse: MessageTypeDefinition<_contextd_v1_SchemaResponse, _contextd_v1_SchemaResponse__Output>
      /**
       * ToolService serves the proxy: one call, one answer.
       */
      ToolService: SubtypeConstructor<typeof grpc.Client, _contextd_v1_ToolServiceClient> & { service: _contextd_v1_ToolServiceDefinition }
    }
  }
}

