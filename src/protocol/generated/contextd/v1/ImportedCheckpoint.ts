// Original file: proto/contextd/v1/management.proto


export interface ImportedCheckpoint {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * The text of the file.
   */
  'file'?: (string);
}

export interface ImportedCheckpoint__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * The text of the file.
   */
  'file': (string);
}
