// Original file: proto/contextd/v1/management.proto


export interface OpenPortRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'port'?: (number);
}

export interface OpenPortRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'port': (number);
}
