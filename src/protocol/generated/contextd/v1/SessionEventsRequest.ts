// Original file: proto/contextd/v1/management.proto


export interface SessionEventsRequest {
  'root'?: (string);
  /**
   * Empty means the session with the newest event.
   */
  'session'?: (string);
  /**
   * Empty means the base.
   */
  'branch'?: (string);
  /**
   * Events of the base and of all branches.
   */
  'all_branches'?: (boolean);
  /**
   * The first position and the last; 0: from the first, to the newest.
   */
  'from'?: (number | string);
  'to'?: (number | string);
  /**
   * At most this many, the newest; 0: the default.
   */
  'limit'?: (number);
}

export interface SessionEventsRequest__Output {
  'root': (string);
  /**
   * Empty means the session with the newest event.
   */
  'session': (string);
  /**
   * Empty means the base.
   */
  'branch': (string);
  /**
   * Events of the base and of all branches.
   */
  'all_branches': (boolean);
  /**
   * The first position and the last; 0: from the first, to the newest.
   */
  'from': (number);
  'to': (number);
  /**
   * At most this many, the newest; 0: the default.
   */
  'limit': (number);
}
