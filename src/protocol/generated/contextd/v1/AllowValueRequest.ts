// Original file: proto/contextd/v1/management.proto

import type { SecretRequest as _contextd_v1_SecretRequest, SecretRequest__Output as _contextd_v1_SecretRequest__Output } from '../../contextd/v1/SecretRequest.ts';

export interface AllowValueRequest {
  /**
   * The secret of a session that is no secret. Its root is the project.
   */
  'secret'?: (_contextd_v1_SecretRequest | null);
  /**
   * The value itself, if the secret has no token.
   */
  'value'?: (string);
  /**
   * True: in every project.
   */
  'everywhere'?: (boolean);
  /**
   * The account that allows it.
   */
  'by'?: (string);
}

export interface AllowValueRequest__Output {
  /**
   * The secret of a session that is no secret. Its root is the project.
   */
  'secret': (_contextd_v1_SecretRequest__Output | null);
  /**
   * The value itself, if the secret has no token.
   */
  'value': (string);
  /**
   * True: in every project.
   */
  'everywhere': (boolean);
  /**
   * The account that allows it.
   */
  'by': (string);
}
