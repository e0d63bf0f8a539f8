// Original file: proto/contextd/v1/management.proto


export interface SessionSummary {
  'session'?: (string);
  /**
   * The position of its newest event: positions count from 1 and are kept when older events are removed.
   */
  'position'?: (number | string);
  /**
   * How many events are kept.
   */
  'events'?: (number | string);
  /**
   * Branches that have events.
   */
  'branches'?: (number | string);
  /**
   * Milliseconds since the epoch, of the oldest event that is kept and of the newest.
   */
  'first_ms'?: (number | string);
  'last_ms'?: (number | string);
}

export interface SessionSummary__Output {
  'session': (string);
  /**
   * The position of its newest event: positions count from 1 and are kept when older events are removed.
   */
  'position': (number);
  /**
   * How many events are kept.
   */
  'events': (number);
  /**
   * Branches that have events.
   */
  'branches': (number);
  /**
   * Milliseconds since the epoch, of the oldest event that is kept and of the newest.
   */
  'first_ms': (number);
  'last_ms': (number);
}
