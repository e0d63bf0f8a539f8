// Original file: proto/contextd/v1/management.proto


export interface StopRequest {
  /**
   * Milliseconds to wait for calls in flight; 0: the configured default.
   */
  'grace_ms'?: (number);
  /**
   * A new daemon is started afterwards: calls that are ended say so.
   */
  'restart'?: (boolean);
}

export interface StopRequest__Output {
  /**
   * Milliseconds to wait for calls in flight; 0: the configured default.
   */
  'grace_ms': (number);
  /**
   * A new daemon is started afterwards: calls that are ended say so.
   */
  'restart': (boolean);
}
