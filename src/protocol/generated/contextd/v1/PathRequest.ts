// Original file: proto/contextd/v1/management.proto


export interface PathRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Absolute real path of a directory.
   */
  'path'?: (string);
}

export interface PathRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Absolute real path of a directory.
   */
  'path': (string);
}
