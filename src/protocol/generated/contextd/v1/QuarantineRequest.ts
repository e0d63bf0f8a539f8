// Original file: proto/contextd/v1/management.proto


export interface QuarantineRequest {
  'root'?: (string);
  /**
   * An id, or eight or more digits of a SHA-256; for RevokeAccepted a path too. Empty lists everything.
   */
  'which'?: (string);
}

export interface QuarantineRequest__Output {
  'root': (string);
  /**
   * An id, or eight or more digits of a SHA-256; for RevokeAccepted a path too. Empty lists everything.
   */
  'which': (string);
}
