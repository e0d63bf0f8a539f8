// Original file: proto/contextd/v1/management.proto


export interface EndSessionResponse {
  'root'?: (string);
  'session'?: (string);
  /**
   * False if there was no such session.
   */
  'ended'?: (boolean);
}

export interface EndSessionResponse__Output {
  'root': (string);
  'session': (string);
  /**
   * False if there was no such session.
   */
  'ended': (boolean);
}
