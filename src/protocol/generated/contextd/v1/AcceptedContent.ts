// Original file: proto/contextd/v1/management.proto


export interface AcceptedContent {
  'path'?: (string);
  'sha256'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'accepted_ms'?: (number | string);
}

export interface AcceptedContent__Output {
  'path': (string);
  'sha256': (string);
  /**
   * Milliseconds since the epoch.
   */
  'accepted_ms': (number);
}
