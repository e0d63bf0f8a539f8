// Original file: proto/contextd/v1/management.proto


export interface AcceptQuarantinedRequest {
  'root'?: (string);
  'which'?: (string);
  /**
   * Of the content that was shown: what changed since is refused.
   */
  'sha256'?: (string);
}

export interface AcceptQuarantinedRequest__Output {
  'root': (string);
  'which': (string);
  /**
   * Of the content that was shown: what changed since is refused.
   */
  'sha256': (string);
}
