// Original file: proto/contextd/v1/management.proto


/**
 * A branch of a session. Its texts are masked.
 */
export interface BranchInfo {
  'id'?: (string);
  'session'?: (string);
  /**
   * The branch in which it was opened; empty: the base of the session.
   */
  'parent'?: (string);
  'description'?: (string);
  /**
   * "open", or what closed it: "return", "parent", "session" or "timeout".
   */
  'state'?: (string);
  /**
   * What its answers cost, of what they may cost.
   */
  'tokens'?: (number);
  'budget_tokens'?: (number);
  'calls'?: (number);
  /**
   * Milliseconds since the epoch; closed_ms is 0 for an open one.
   */
  'opened_ms'?: (number | string);
  'closed_ms'?: (number | string);
  'timeout_ms'?: (number | string);
  /**
   * Of a branch with files of its own: "open", "merging", "merged" or "discarded". Empty: it has none.
   */
  'files'?: (string);
}

/**
 * A branch of a session. Its texts are masked.
 */
export interface BranchInfo__Output {
  'id': (string);
  'session': (string);
  /**
   * The branch in which it was opened; empty: the base of the session.
   */
  'parent': (string);
  'description': (string);
  /**
   * "open", or what closed it: "return", "parent", "session" or "timeout".
   */
  'state': (string);
  /**
   * What its answers cost, of what they may cost.
   */
  'tokens': (number);
  'budget_tokens': (number);
  'calls': (number);
  /**
   * Milliseconds since the epoch; closed_ms is 0 for an open one.
   */
  'opened_ms': (number);
  'closed_ms': (number);
  'timeout_ms': (number);
  /**
   * Of a branch with files of its own: "open", "merging", "merged" or "discarded". Empty: it has none.
   */
  'files': (string);
}
