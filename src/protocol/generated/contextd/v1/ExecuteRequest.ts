// Original file: proto/contextd/v1/tool.proto

import type { CallContext as _contextd_v1_CallContext, CallContext__Output as _contextd_v1_CallContext__Output } from '../../contextd/v1/CallContext.ts';

export interface ExecuteRequest {
  'tool'?: (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json'?: (Buffer | Uint8Array | string);
  'context'?: (_contextd_v1_CallContext | null);
}

export interface ExecuteRequest__Output {
  'tool': (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json': (Buffer);
  'context': (_contextd_v1_CallContext__Output | null);
}
