// Original file: proto/contextd/v1/management.proto


export interface MemoryRating {
  /**
   * Project root.
   */
  'root'?: (string);
  'id'?: (string);
  /**
   * success, failure or mixed; empty: nothing is recorded.
   */
  'outcome'?: (string);
  'note'?: (string);
}

export interface MemoryRating__Output {
  /**
   * Project root.
   */
  'root': (string);
  'id': (string);
  /**
   * success, failure or mixed; empty: nothing is recorded.
   */
  'outcome': (string);
  'note': (string);
}
