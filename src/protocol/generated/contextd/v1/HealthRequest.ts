// Original file: proto/contextd/v1/management.proto


export interface HealthRequest {
  /**
   * Empty: the isolation that the machine reaches; else the one that calls of this project get.
   */
  'project_root'?: (string);
}

export interface HealthRequest__Output {
  /**
   * Empty: the isolation that the machine reaches; else the one that calls of this project get.
   */
  'project_root': (string);
}
