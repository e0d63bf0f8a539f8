// Original file: proto/contextd/v1/management.proto


export interface QuarantinedItem {
  'id'?: (string);
  /**
   * Its original path, relative to the project.
   */
  'path'?: (string);
  /**
   * Its current path.
   */
  'moved'?: (string);
  /**
   * A clause that continues "was set aside:".
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
   * The hash of its current content; empty if it has none.
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
   * Its original path, relative to the project.
   */
  'path': (string);
  /**
   * Its current path.
   */
  'moved': (string);
  /**
   * A clause that continues "was set aside:".
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
   * The hash of its current content; empty if it has none.
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
