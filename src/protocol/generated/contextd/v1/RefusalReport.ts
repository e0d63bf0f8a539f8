// Original file: proto/contextd/v1/tool.proto

import type { ExecuteRequest as _contextd_v1_ExecuteRequest, ExecuteRequest__Output as _contextd_v1_ExecuteRequest__Output } from '../../contextd/v1/ExecuteRequest.ts';

export interface RefusalReport {
  /**
   * The refused request: input_json is {"arguments": [...]}, the words of the command line.
   */
  'call'?: (_contextd_v1_ExecuteRequest | null);
  /**
   * A code of docs/errors.md.
   */
  'error_code'?: (string);
  /**
   * The rest of the proxy's error, so that the record has the hash of the same answer.
   */
  'message'?: (string);
  'remedy'?: (string);
  'details_json'?: (Buffer | Uint8Array | string);
}

export interface RefusalReport__Output {
  /**
   * The refused request: input_json is {"arguments": [...]}, the words of the command line.
   */
  'call': (_contextd_v1_ExecuteRequest__Output | null);
  /**
   * A code of docs/errors.md.
   */
  'error_code': (string);
  /**
   * The rest of the proxy's error, so that the record has the hash of the same answer.
   */
  'message': (string);
  'remedy': (string);
  'details_json': (Buffer);
}
