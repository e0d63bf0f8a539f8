// Original file: proto/contextd/v1/management.proto


export interface StopRequest {
  /**
   * Milliseconds to wait for calls in flight; 0: the configured default.
   */
  'grace_ms'?: (number);
}

export interface StopRequest__Output {
  /**
   * Milliseconds to wait for calls in flight; 0: the configured default.
   */
  'grace_ms': (number);
}
