// Original file: proto/contextd/v1/tool.proto


/**
 * Progress is for a person who waits, never complete and not part of the answer.
 */
export interface Progress {
  /**
   * Whole lines, scrubbed; of control characters only line ends, tabs and colours.
   */
  'text'?: (string);
}

/**
 * Progress is for a person who waits, never complete and not part of the answer.
 */
export interface Progress__Output {
  /**
   * Whole lines, scrubbed; of control characters only line ends, tabs and colours.
   */
  'text': (string);
}
