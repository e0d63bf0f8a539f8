// Original file: proto/contextd/v1/plugin.proto


export interface SecretSpan {
  'rule'?: (string);
  /**
   * UTF-16 offsets, end exclusive.
   */
  'start'?: (number);
  'end'?: (number);
}

export interface SecretSpan__Output {
  'rule': (string);
  /**
   * UTF-16 offsets, end exclusive.
   */
  'start': (number);
  'end': (number);
}
