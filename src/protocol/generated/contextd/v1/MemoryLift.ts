// Original file: proto/contextd/v1/management.proto


export interface MemoryLift {
  'id'?: (string);
  'title'?: (string);
  /**
   * Sessions with a known outcome in which a search showed the memory, and in which it was held out.
   */
  'shown'?: (number);
  'held_out'?: (number);
  /**
   * The same sessions whose outcome is not known yet.
   */
  'shown_open'?: (number);
  'held_out_open'?: (number);
  /**
   * Shares of successes, from 0 to 1; 0 if there is no such session.
   */
  'shown_success'?: (number | string);
  'held_out_success'?: (number | string);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift'?: (number | string);
  'low'?: (number | string);
  'high'?: (number | string);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict'?: (string);
}

export interface MemoryLift__Output {
  'id': (string);
  'title': (string);
  /**
   * Sessions with a known outcome in which a search showed the memory, and in which it was held out.
   */
  'shown': (number);
  'held_out': (number);
  /**
   * The same sessions whose outcome is not known yet.
   */
  'shown_open': (number);
  'held_out_open': (number);
  /**
   * Shares of successes, from 0 to 1; 0 if there is no such session.
   */
  'shown_success': (number);
  'held_out_success': (number);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift': (number);
  'low': (number);
  'high': (number);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict': (string);
}
