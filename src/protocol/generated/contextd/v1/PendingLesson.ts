// Original file: proto/contextd/v1/management.proto


export interface PendingLesson {
  'id'?: (string);
  'task'?: (string);
  /**
   * Calls that are looked at.
   */
  'calls'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms'?: (number | string);
  /**
   * waiting, or failed.
   */
  'state'?: (string);
  /**
   * Why it failed; empty if it did not.
   */
  'fault'?: (string);
}

export interface PendingLesson__Output {
  'id': (string);
  'task': (string);
  /**
   * Calls that are looked at.
   */
  'calls': (number);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms': (number);
  /**
   * waiting, or failed.
   */
  'state': (string);
  /**
   * Why it failed; empty if it did not.
   */
  'fault': (string);
}
