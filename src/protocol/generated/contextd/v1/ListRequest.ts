// Original file: proto/contextd/v1/management.proto


export interface ListRequest {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root'?: (string);
}

export interface ListRequest__Output {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root': (string);
}
