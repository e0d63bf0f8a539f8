// Original file: proto/contextd/v1/management.proto


export interface RollbackToolRequest {
  'root'?: (string);
  'name'?: (string);
  /**
   * True: only answers what the tools of the project would be, and changes nothing.
   */
  'preview'?: (boolean);
}

export interface RollbackToolRequest__Output {
  'root': (string);
  'name': (string);
  /**
   * True: only answers what the tools of the project would be, and changes nothing.
   */
  'preview': (boolean);
}
