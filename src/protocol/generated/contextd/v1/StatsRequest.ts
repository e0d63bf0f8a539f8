// Original file: proto/contextd/v1/management.proto


export interface StatsRequest {
  /**
   * Empty: all projects.
   */
  'project_root'?: (string);
  /**
   * UTC days back, today included; 0: 7. At most 366.
   */
  'days'?: (number);
}

export interface StatsRequest__Output {
  /**
   * Empty: all projects.
   */
  'project_root': (string);
  /**
   * UTC days back, today included; 0: 7. At most 366.
   */
  'days': (number);
}
