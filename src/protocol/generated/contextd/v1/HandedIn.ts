// Original file: proto/contextd/v1/management.proto


export interface HandedIn {
  /**
   * user or agent (a message), todo (a whole to-do list), task (one entry of one) or edit (a path).
   */
  'role'?: (string);
  'text'?: (string);
}

export interface HandedIn__Output {
  /**
   * user or agent (a message), todo (a whole to-do list), task (one entry of one) or edit (a path).
   */
  'role': (string);
  'text': (string);
}
