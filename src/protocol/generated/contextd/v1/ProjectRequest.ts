// Original file: proto/contextd/v1/management.proto


export interface ProjectRequest {
  /**
   * Absolute path with symlinks resolved.
   */
  'root'?: (string);
}

export interface ProjectRequest__Output {
  /**
   * Absolute path with symlinks resolved.
   */
  'root': (string);
}
