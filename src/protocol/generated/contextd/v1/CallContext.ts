// Original file: proto/contextd/v1/tool.proto


export interface CallContext {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id'?: (string);
  /**
   * Absolute, with symlinks resolved: the directory that contains the .claude directory of the link.
   */
  'project_root'?: (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID. Empty means the current session of the project.
   */
  'session_id'?: (string);
  /**
   * The version of this protocol that the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version'?: (number);
  /**
   * CONTEXTD_BRANCH: the branch of the session that the call belongs to. Empty means the base, unless the arguments name one.
   */
  'branch'?: (string);
}

export interface CallContext__Output {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id': (string);
  /**
   * Absolute, with symlinks resolved: the directory that contains the .claude directory of the link.
   */
  'project_root': (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID. Empty means the current session of the project.
   */
  'session_id': (string);
  /**
   * The version of this protocol that the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version': (number);
  /**
   * CONTEXTD_BRANCH: the branch of the session that the call belongs to. Empty means the base, unless the arguments name one.
   */
  'branch': (string);
}
