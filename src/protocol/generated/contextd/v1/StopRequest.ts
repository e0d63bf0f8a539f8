// Original file: proto/contextd/v1/management.proto


export interface StopRequest {
  /**
   * Milliseconds to wait for running calls; 0 means the configured default.
   */
  'grace_ms'?: (number);
  /**
   * Whether a new daemon is started afterwards. Calls that are ended report it.
   */
  'restart'?: (boolean);
}

export interface StopRequest__Output {
  /**
   * Milliseconds to wait for running calls; 0 means the configured default.
   */
  'grace_ms': (number);
  /**
   * Whether a new daemon is started afterwards. Calls that are ended report it.
   */
  'restart': (boolean);
}
