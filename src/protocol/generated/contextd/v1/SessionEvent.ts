// Original file: proto/contextd/v1/management.proto


export interface SessionEvent {
  'seq'?: (number | string);
  'branch'?: (string);
  'kind'?: (string);
  /**
   * 0 if it depends on no event.
   */
  'parent'?: (number | string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
  'sensitivity'?: (string);
  'tokens'?: (number | string);
  'text'?: (string);
  /**
   * A JSON object, by kind.
   */
  'facts_json'?: (string);
  'artifact'?: (string);
}

export interface SessionEvent__Output {
  'seq': (number);
  'branch': (string);
  'kind': (string);
  /**
   * 0 if it depends on no event.
   */
  'parent': (number);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
  'sensitivity': (string);
  'tokens': (number);
  'text': (string);
  /**
   * A JSON object, by kind.
   */
  'facts_json': (string);
  'artifact': (string);
}
