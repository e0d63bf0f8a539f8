// Original file: proto/contextd/v1/management.proto


export interface SecretRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * "[SECRET_1]".
   */
  'token'?: (string);
}

export interface SecretRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * "[SECRET_1]".
   */
  'token': (string);
}
