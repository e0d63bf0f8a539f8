// Original file: proto/contextd/v1/management.proto


export interface ReplayedContext {
  'number'?: (number | string);
  'position'?: (number | string);
  'phase'?: (string);
  'sha256'?: (string);
  'at_ms'?: (number | string);
  /**
   * "same", "differs", or "gone" if events that it was made of were removed.
   */
  'result'?: (string);
}

export interface ReplayedContext__Output {
  'number': (number);
  'position': (number);
  'phase': (string);
  'sha256': (string);
  'at_ms': (number);
  /**
   * "same", "differs", or "gone" if events that it was made of were removed.
   */
  'result': (string);
}
