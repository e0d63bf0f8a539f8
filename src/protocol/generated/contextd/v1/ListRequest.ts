// Original file: proto/contextd/v1/management.proto


export interface ListRequest {
  /**
   * Empty: the core tools; else the tools accepted for this project.
   */
  'root'?: (string);
}

export interface ListRequest__Output {
  /**
   * Empty: the core tools; else the tools accepted for this project.
   */
  'root': (string);
}
