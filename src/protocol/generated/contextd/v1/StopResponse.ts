// Original file: proto/contextd/v1/management.proto


/**
 * Sent once no call is under way any more, shortly before the daemon ends.
 */
export interface StopResponse {
  'pid'?: (number);
  /**
   * Calls in flight when it was asked.
   */
  'active_calls'?: (number);
  /**
   * Calls of those that were ended because they took longer than the grace.
   */
  'ended_calls'?: (number);
}

/**
 * Sent once no call is under way any more, shortly before the daemon ends.
 */
export interface StopResponse__Output {
  'pid': (number);
  /**
   * Calls in flight when it was asked.
   */
  'active_calls': (number);
  /**
   * Calls of those that were ended because they took longer than the grace.
   */
  'ended_calls': (number);
}
