// Original file: proto/contextd/v1/management.proto


export interface CachesRequest {
  /**
   * Project root; empty means all projects.
   */
  'project_root'?: (string);
}

export interface CachesRequest__Output {
  /**
   * Project root; empty means all projects.
   */
  'project_root': (string);
}
