// Original file: proto/contextd/v1/management.proto


export interface SessionRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As the proxy names it; empty: the one a call without a name gets.
   */
  'session'?: (string);
}

export interface SessionRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As the proxy names it; empty: the one a call without a name gets.
   */
  'session': (string);
}
