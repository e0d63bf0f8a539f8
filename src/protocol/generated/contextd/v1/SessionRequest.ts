// Original file: proto/contextd/v1/management.proto


export interface SessionRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As the proxy names it. Empty means the session that a call without a name gets.
   */
  'session'?: (string);
}

export interface SessionRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As the proxy names it. Empty means the session that a call without a name gets.
   */
  'session': (string);
}
