// Original file: proto/contextd/v1/management.proto


/**
 * Where the bytes of an installed tool came from.
 */
export interface ToolOrigin {
  /**
   * In the grammar of docs/tools.md, without credentials.
   */
  'source'?: (string);
  /**
   * Empty unless the source is a git repository.
   */
  'commit'?: (string);
  /**
   * Empty unless the source is an archive.
   */
  'archive_sha256'?: (string);
  /**
   * Who signed it, as verified; empty: nobody.
   */
  'signer'?: (string);
}

/**
 * Where the bytes of an installed tool came from.
 */
export interface ToolOrigin__Output {
  /**
   * In the grammar of docs/tools.md, without credentials.
   */
  'source': (string);
  /**
   * Empty unless the source is a git repository.
   */
  'commit': (string);
  /**
   * Empty unless the source is an archive.
   */
  'archive_sha256': (string);
  /**
   * Who signed it, as verified; empty: nobody.
   */
  'signer': (string);
}
