// Original file: proto/contextd/v1/management.proto


/**
 * Sent when no call runs any more, shortly before the daemon ends.
 */
export interface StopResponse {
  'pid'?: (number);
  /**
   * Calls that were running at the request.
   */
  'active_calls'?: (number);
  /**
   * How many of those were ended because they took longer than the grace period.
   */
  'ended_calls'?: (number);
}

/**
 * Sent when no call runs any more, shortly before the daemon ends.
 */
export interface StopResponse__Output {
  'pid': (number);
  /**
   * Calls that were running at the request.
   */
  'active_calls': (number);
  /**
   * How many of those were ended because they took longer than the grace period.
   */
  'ended_calls': (number);
}
