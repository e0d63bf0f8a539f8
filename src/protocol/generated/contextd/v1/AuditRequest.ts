// Original file: proto/contextd/v1/management.proto


export interface AuditRequest {
  /**
   * Newest records wanted; 0: 20. At most 1000.
   */
  'limit'?: (number);
  /**
   * Empty: all projects.
   */
  'project_root'?: (string);
}

export interface AuditRequest__Output {
  /**
   * Newest records wanted; 0: 20. At most 1000.
   */
  'limit': (number);
  /**
   * Empty: all projects.
   */
  'project_root': (string);
}
