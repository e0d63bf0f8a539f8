// Original file: proto/contextd/v1/management.proto


/**
 * The caches of one project: ~/.cache, ~/.npm, ~/go and others, as its commands see them.
 */
export interface ProjectCaches {
  'project'?: (string);
  'bytes'?: (number | string);
  /**
   * What they may keep.
   */
  'max_bytes'?: (number | string);
  /**
   * When a command last used them, milliseconds since the epoch.
   */
  'used_ms'?: (number | string);
}

/**
 * The caches of one project: ~/.cache, ~/.npm, ~/go and others, as its commands see them.
 */
export interface ProjectCaches__Output {
  'project': (string);
  'bytes': (number);
  /**
   * What they may keep.
   */
  'max_bytes': (number);
  /**
   * When a command last used them, milliseconds since the epoch.
   */
  'used_ms': (number);
}
