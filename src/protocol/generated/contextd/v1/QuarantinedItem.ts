// Original file: proto/contextd/v1/management.proto


export interface QuarantinedItem {
  'id'?: (string);
  /**
   * Relative to the project; where it was.
   */
  'path'?: (string);
  /**
   * Its name now.
   */
  'moved'?: (string);
  /**
   * Follows "was set aside:".
   */
  'reason'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'set_aside_ms'?: (number | string);
  /**
   * "file", "directory", "link" or "other".
   */
  'kind'?: (string);
  /**
   * Absent if the bytes were not counted.
   */
  'size_bytes'?: (number | string);
  /**
   * Of its content now; empty if it has no hash.
   */
  'sha256'?: (string);
  /**
   * Why it has no hash; empty if it has one.
   */
  'no_hash_because'?: (string);
  /**
   * The first lines of a text, the names in a directory; empty for anything else.
   */
  'preview'?: (string);
  '_size_bytes'?: "size_bytes";
}

export interface QuarantinedItem__Output {
  'id': (string);
  /**
   * Relative to the project; where it was.
   */
  'path': (string);
  /**
   * Its name now.
   */
  'moved': (string);
  /**
   * Follows "was set aside:".
   */
  'reason': (string);
  /**
   * Milliseconds since the epoch.
   */
  'set_aside_ms': (number);
  /**
   * "file", "directory", "link" or "other".
   */
  'kind': (string);
  /**
   * Absent if the bytes were not counted.
   */
  'size_bytes'?: (number);
  /**
   * Of its content now; empty if it has no hash.
   */
  'sha256': (string);
  /**
   * Why it has no hash; empty if it has one.
   */
  'no_hash_because': (string);
  /**
   * The first lines of a text, the names in a directory; empty for anything else.
   */
  'preview': (string);
  '_size_bytes'?: "size_bytes";
}
