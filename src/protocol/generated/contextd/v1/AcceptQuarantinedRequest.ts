// Original file: proto/contextd/v1/management.proto


export interface AcceptQuarantinedRequest {
  'root'?: (string);
  'which'?: (string);
  /**
   * The hash of the content that was shown. Content that has changed since is refused.
   */
  'sha256'?: (string);
}

export interface AcceptQuarantinedRequest__Output {
  'root': (string);
  'which': (string);
  /**
   * The hash of the content that was shown. Content that has changed since is refused.
   */
  'sha256': (string);
}
