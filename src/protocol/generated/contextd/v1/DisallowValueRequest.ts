// Original file: proto/contextd/v1/management.proto


export interface DisallowValueRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * The id, or the beginning of one.
   */
  'id'?: (string);
}

export interface DisallowValueRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * The id, or the beginning of one.
   */
  'id': (string);
}
