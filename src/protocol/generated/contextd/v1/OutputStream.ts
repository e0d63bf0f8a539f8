// Original file: proto/contextd/v1/plugin.proto


export interface OutputStream {
  /**
   * The key of `data` under which the text is shown.
   */
  'field'?: (string);
  'text'?: (string);
  /**
   * UTF-16 characters at the start and the end of the text that are searched for secrets and never shown.
   */
  'margin_before'?: (number);
  'margin_after'?: (number);
}

export interface OutputStream__Output {
  /**
   * The key of `data` under which the text is shown.
   */
  'field': (string);
  'text': (string);
  /**
   * UTF-16 characters at the start and the end of the text that are searched for secrets and never shown.
   */
  'margin_before': (number);
  'margin_after': (number);
}
