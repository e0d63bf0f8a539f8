// Original file: proto/contextd/v1/plugin.proto


export interface OutputStream {
  /**
   * Key of `data` under which the text is shown.
   */
  'field'?: (string);
  'text'?: (string);
}

export interface OutputStream__Output {
  /**
   * Key of `data` under which the text is shown.
   */
  'field': (string);
  'text': (string);
}
