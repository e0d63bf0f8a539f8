// Original file: proto/contextd/v1/management.proto


export interface NetworkRequest {
  /**
   * Empty means the rules of the machine alone.
   */
  'root'?: (string);
}

export interface NetworkRequest__Output {
  /**
   * Empty means the rules of the machine alone.
   */
  'root': (string);
}
