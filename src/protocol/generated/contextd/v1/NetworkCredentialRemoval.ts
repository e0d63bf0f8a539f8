// Original file: proto/contextd/v1/management.proto


export interface NetworkCredentialRemoval {
  'root'?: (string);
  /**
   * host or host:port
   */
  'host'?: (string);
  /**
   * Only those of exactly these paths; empty means all of the host.
   */
  'paths'?: (string)[];
}

export interface NetworkCredentialRemoval__Output {
  'root': (string);
  /**
   * host or host:port
   */
  'host': (string);
  /**
   * Only those of exactly these paths; empty means all of the host.
   */
  'paths': (string)[];
}
