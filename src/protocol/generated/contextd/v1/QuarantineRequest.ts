// Original file: proto/contextd/v1/management.proto


export interface QuarantineRequest {
  'root'?: (string);
  /**
   * An id, or at least eight digits of a SHA-256; for RevokeAccepted also a path. Empty lists everything.
   */
  'which'?: (string);
}

export interface QuarantineRequest__Output {
  'root': (string);
  /**
   * An id, or at least eight digits of a SHA-256; for RevokeAccepted also a path. Empty lists everything.
   */
  'which': (string);
}
