// Original file: proto/contextd/v1/management.proto


export interface ApproveRulesRequest {
  'root'?: (string);
  /**
   * The hash of the reviewed bytes. A file that has changed since is refused.
   */
  'sha256'?: (string);
}

export interface ApproveRulesRequest__Output {
  'root': (string);
  /**
   * The hash of the reviewed bytes. A file that has changed since is refused.
   */
  'sha256': (string);
}
