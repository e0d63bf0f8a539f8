// Original file: proto/contextd/v1/management.proto


export interface PathList {
  /**
   * Absolute real paths, sorted.
   */
  'paths'?: (string)[];
}

export interface PathList__Output {
  /**
   * Absolute real paths, sorted.
   */
  'paths': (string)[];
}
