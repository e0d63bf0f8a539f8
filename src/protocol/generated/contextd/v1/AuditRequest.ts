// Original file: proto/contextd/v1/management.proto


export interface AuditRequest {
  /**
   * The number of newest records; 0 means 20. At most 1000.
   */
  'limit'?: (number);
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
}

export interface AuditRequest__Output {
  /**
   * The number of newest records; 0 means 20. At most 1000.
   */
  'limit': (number);
  /**
   * Empty means all projects.
   */
  'project_root': (string);
}
