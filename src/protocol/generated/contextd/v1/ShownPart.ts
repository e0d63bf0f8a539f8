// Original file: proto/contextd/v1/plugin.proto


export interface ShownPart {
  /**
   * UTF-16 offsets in the text; the end is exclusive.
   */
  'start'?: (number);
  'end'?: (number);
  /**
   * The number of the line, as grep writes it: "12:", or "\n13-" after another part. Nothing else is accepted.
   */
  'label'?: (string);
}

export interface ShownPart__Output {
  /**
   * UTF-16 offsets in the text; the end is exclusive.
   */
  'start': (number);
  'end': (number);
  /**
   * The number of the line, as grep writes it: "12:", or "\n13-" after another part. Nothing else is accepted.
   */
  'label': (string);
}
