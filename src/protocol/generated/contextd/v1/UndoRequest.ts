// Original file: proto/contextd/v1/management.proto


export interface UndoRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * A ref (undo_…) or a request id (req_…) of an answer; empty: the last call that changed files.
   */
  'which'?: (string);
  /**
   * Put the other files back even if some have changed since. Otherwise nothing is put back then.
   */
  'partial'?: (boolean);
}

export interface UndoRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * A ref (undo_…) or a request id (req_…) of an answer; empty: the last call that changed files.
   */
  'which': (string);
  /**
   * Put the other files back even if some have changed since. Otherwise nothing is put back then.
   */
  'partial': (boolean);
}
