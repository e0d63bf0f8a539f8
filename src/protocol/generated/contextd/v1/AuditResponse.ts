// Original file: proto/contextd/v1/management.proto


export interface AuditResponse {
  /**
   * One JSON object per record, as stored, oldest first.
   */
  'records_json'?: (string)[];
}

export interface AuditResponse__Output {
  /**
   * One JSON object per record, as stored, oldest first.
   */
  'records_json': (string)[];
}
