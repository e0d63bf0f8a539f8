// Original file: proto/contextd/v1/management.proto


export interface MemoryFeedback {
  /**
   * success, failure or mixed.
   */
  'outcome'?: (string);
  'note'?: (string);
  /**
   * The call that gave it; empty for a person.
   */
  'request_id'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
}

export interface MemoryFeedback__Output {
  /**
   * success, failure or mixed.
   */
  'outcome': (string);
  'note': (string);
  /**
   * The call that gave it; empty for a person.
   */
  'request_id': (string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
}
