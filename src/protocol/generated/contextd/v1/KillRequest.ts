// Original file: proto/contextd/v1/management.proto


export interface KillRequest {
  /**
   * The id of a running item, or its beginning or end.
   */
  'id'?: (string);
}

export interface KillRequest__Output {
  /**
   * The id of a running item, or its beginning or end.
   */
  'id': (string);
}
