// Original file: proto/contextd/v1/host.proto


export interface LogRequest {
  'call_id'?: (string);
  /**
   * debug, info, warn or error.
   */
  'level'?: (string);
  'message'?: (string);
}

export interface LogRequest__Output {
  'call_id': (string);
  /**
   * debug, info, warn or error.
   */
  'level': (string);
  'message': (string);
}
