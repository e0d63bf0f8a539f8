// Original file: proto/contextd/v1/management.proto


export interface RunningRequest {
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
}

export interface RunningRequest__Output {
  /**
   * Empty means all projects.
   */
  'project_root': (string);
}
