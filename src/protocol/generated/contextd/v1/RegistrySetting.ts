// Original file: proto/contextd/v1/management.proto


export interface RegistrySetting {
  /**
   * For example "npm".
   */
  'client'?: (string);
  /**
   * As the client calls it, for example "registry".
   */
  'key'?: (string);
  /**
   * Without credentials.
   */
  'value'?: (string);
}

export interface RegistrySetting__Output {
  /**
   * For example "npm".
   */
  'client': (string);
  /**
   * As the client calls it, for example "registry".
   */
  'key': (string);
  /**
   * Without credentials.
   */
  'value': (string);
}
