// Original file: proto/contextd/v1/management.proto


export interface BranchFilesRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'branch'?: (string);
  /**
   * Discards the files instead of merging them.
   */
  'discard'?: (boolean);
  /**
   * Paths, relative to the project, that speak for all below them: the project's version, the branch's, or both as text.
   */
  'keep_base'?: (string)[];
  'take_branch'?: (string)[];
  'merge_text'?: (string)[];
  /**
   * With the differences of texts.
   */
  'patch'?: (boolean);
}

export interface BranchFilesRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'branch': (string);
  /**
   * Discards the files instead of merging them.
   */
  'discard': (boolean);
  /**
   * Paths, relative to the project, that speak for all below them: the project's version, the branch's, or both as text.
   */
  'keep_base': (string)[];
  'take_branch': (string)[];
  'merge_text': (string)[];
  /**
   * With the differences of texts.
   */
  'patch': (boolean);
}
