// Original file: proto/contextd/v1/management.proto


export interface ApproveRulesRequest {
  'root'?: (string);
  /**
   * Of the bytes that were reviewed: a file that changed since is refused.
   */
  'sha256'?: (string);
}

export interface ApproveRulesRequest__Output {
  'root': (string);
  /**
   * Of the bytes that were reviewed: a file that changed since is refused.
   */
  'sha256': (string);
}
