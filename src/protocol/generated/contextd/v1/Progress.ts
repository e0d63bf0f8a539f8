// Original file: proto/contextd/v1/tool.proto


/**
 * Progress is for a person to watch. It is never complete and not part of the answer.
 */
export interface Progress {
  /**
   * Whole scrubbed lines. The only control characters are line ends, tabs and colours.
   */
  'text'?: (string);
}

/**
 * Progress is for a person to watch. It is never complete and not part of the answer.
 */
export interface Progress__Output {
  /**
   * Whole scrubbed lines. The only control characters are line ends, tabs and colours.
   */
  'text': (string);
}
