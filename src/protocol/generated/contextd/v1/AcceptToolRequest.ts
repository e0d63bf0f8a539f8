// Original file: proto/contextd/v1/management.proto


export interface AcceptToolRequest {
  'root'?: (string);
  /**
   * Of the plan that the person saw.
   */
  'bundle_sha256'?: (string);
  /**
   * True if nobody was asked: grants above `install.yes_grants` are then refused.
   */
  'unattended'?: (boolean);
}

export interface AcceptToolRequest__Output {
  'root': (string);
  /**
   * Of the plan that the person saw.
   */
  'bundle_sha256': (string);
  /**
   * True if nobody was asked: grants above `install.yes_grants` are then refused.
   */
  'unattended': (boolean);
}
