// Original file: proto/contextd/v1/management.proto


export interface LearnRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Ids of calls of the project, in any order.
   */
  'request_ids'?: (string)[];
  /**
   * The session whose calls are meant; empty if request_ids names them.
   */
  'session'?: (string);
  /**
   * What the work was for; may be empty.
   */
  'task'?: (string);
  /**
   * success, failure or mixed; empty: as the calls ended.
   */
  'outcome'?: (string);
}

export interface LearnRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Ids of calls of the project, in any order.
   */
  'request_ids': (string)[];
  /**
   * The session whose calls are meant; empty if request_ids names them.
   */
  'session': (string);
  /**
   * What the work was for; may be empty.
   */
  'task': (string);
  /**
   * success, failure or mixed; empty: as the calls ended.
   */
  'outcome': (string);
}
