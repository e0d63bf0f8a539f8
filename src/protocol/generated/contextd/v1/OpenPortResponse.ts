// Original file: proto/contextd/v1/management.proto


export interface OpenPortResponse {
  /**
   * Path of a unix socket that only this user can reach. The way stays open as long as the first connection to it,
   * which must come within ten seconds and gets a line whenever nothing answers. Every further connection leads to the
   * port.
   */
  'socket'?: (string);
}

export interface OpenPortResponse__Output {
  /**
   * Path of a unix socket that only this user can reach. The way stays open as long as the first connection to it,
   * which must come within ten seconds and gets a line whenever nothing answers. Every further connection leads to the
   * port.
   */
  'socket': (string);
}
