// Original file: proto/contextd/v1/management.proto


export interface UndoFile {
  'path'?: (string);
  /**
   * restore, remove, done (it is already as it was before the call) or keep (it stays as it is).
   */
  'action'?: (string);
  /**
   * Why it stays; otherwise empty.
   */
  'why'?: (string);
}

export interface UndoFile__Output {
  'path': (string);
  /**
   * restore, remove, done (it is already as it was before the call) or keep (it stays as it is).
   */
  'action': (string);
  /**
   * Why it stays; otherwise empty.
   */
  'why': (string);
}
