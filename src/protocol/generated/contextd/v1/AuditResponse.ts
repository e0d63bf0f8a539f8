// Original file: proto/contextd/v1/management.proto


export interface AuditResponse {
  /**
   * One JSON object each, oldest first, as stored.
   */
  'records_json'?: (string)[];
}

export interface AuditResponse__Output {
  /**
   * One JSON object each, oldest first, as stored.
   */
  'records_json': (string)[];
}
