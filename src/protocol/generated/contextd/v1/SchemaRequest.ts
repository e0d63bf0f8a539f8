// Original file: proto/contextd/v1/tool.proto

import type { CallContext as _contextd_v1_CallContext, CallContext__Output as _contextd_v1_CallContext__Output } from '../../contextd/v1/CallContext.ts';

export interface SchemaRequest {
  'tool'?: (string);
  'context'?: (_contextd_v1_CallContext | null);
}

export interface SchemaRequest__Output {
  'tool': (string);
  'context': (_contextd_v1_CallContext__Output | null);
}
