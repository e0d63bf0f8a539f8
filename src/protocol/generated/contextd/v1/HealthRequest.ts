// Original file: proto/contextd/v1/management.proto


export interface HealthRequest {
  /**
   * Empty means the isolation of the machine; otherwise the isolation of this project's calls.
   */
  'project_root'?: (string);
}

export interface HealthRequest__Output {
  /**
   * Empty means the isolation of the machine; otherwise the isolation of this project's calls.
   */
  'project_root': (string);
}
