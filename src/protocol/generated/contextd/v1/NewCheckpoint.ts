// Original file: proto/contextd/v1/management.proto


export interface NewCheckpoint {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * At most 80 characters. May be empty.
   */
  'name'?: (string);
  /**
   * At most 8,000 characters. May be empty.
   */
  'note'?: (string);
}

export interface NewCheckpoint__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * At most 80 characters. May be empty.
   */
  'name': (string);
  /**
   * At most 8,000 characters. May be empty.
   */
  'note': (string);
}
