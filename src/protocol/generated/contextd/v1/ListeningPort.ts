// Original file: proto/contextd/v1/management.proto


export interface ListeningPort {
  'port'?: (number);
  /**
   * For example "127.0.0.1", "0.0.0.0" or "::1".
   */
  'address'?: (string);
}

export interface ListeningPort__Output {
  'port': (number);
  /**
   * For example "127.0.0.1", "0.0.0.0" or "::1".
   */
  'address': (string);
}
