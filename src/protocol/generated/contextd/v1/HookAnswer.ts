// Original file: proto/contextd/v1/management.proto


export interface HookAnswer {
  /**
   * What the client shows its model. May be empty.
   */
  'text'?: (string);
  /**
   * Events that were recorded. An item that repeats the last one of its role is not.
   */
  'recorded'?: (number);
  /**
   * Tokens that an answer of session_init, shown after the text, may have. 0: it is not to be shown.
   */
  'warm_start_tokens'?: (number);
}

export interface HookAnswer__Output {
  /**
   * What the client shows its model. May be empty.
   */
  'text': (string);
  /**
   * Events that were recorded. An item that repeats the last one of its role is not.
   */
  'recorded': (number);
  /**
   * Tokens that an answer of session_init, shown after the text, may have. 0: it is not to be shown.
   */
  'warm_start_tokens': (number);
}
