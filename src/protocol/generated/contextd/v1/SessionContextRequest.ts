// Original file: proto/contextd/v1/management.proto


export interface SessionContextRequest {
  'root'?: (string);
  'session'?: (string);
  'branch'?: (string);
  /**
   * "route", "call", "interpret" or "answer".
   */
  'phase'?: (string);
  'query'?: (string);
  /**
   * Tokens of the text; 0: those of the phase.
   */
  'budget_tokens'?: (number);
  /**
   * Events of this sensitivity or above are left out; empty: "restricted".
   */
  'floor'?: (string);
  /**
   * Show events at or above the floor without their text, instead of leaving them out.
   */
  'redact'?: (boolean);
  /**
   * The position up to which the log is read; 0: to the newest event.
   */
  'to'?: (number | string);
}

export interface SessionContextRequest__Output {
  'root': (string);
  'session': (string);
  'branch': (string);
  /**
   * "route", "call", "interpret" or "answer".
   */
  'phase': (string);
  'query': (string);
  /**
   * Tokens of the text; 0: those of the phase.
   */
  'budget_tokens': (number);
  /**
   * Events of this sensitivity or above are left out; empty: "restricted".
   */
  'floor': (string);
  /**
   * Show events at or above the floor without their text, instead of leaving them out.
   */
  'redact': (boolean);
  /**
   * The position up to which the log is read; 0: to the newest event.
   */
  'to': (number);
}
