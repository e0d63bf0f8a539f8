// Original file: proto/contextd/v1/management.proto


export interface StatsRequest {
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
  /**
   * UTC days including today; 0 means 7. At most 366.
   */
  'days'?: (number);
}

export interface StatsRequest__Output {
  /**
   * Empty means all projects.
   */
  'project_root': (string);
  /**
   * UTC days including today; 0 means 7. At most 366.
   */
  'days': (number);
}
