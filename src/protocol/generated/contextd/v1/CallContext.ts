// Original file: proto/contextd/v1/tool.proto


export interface CallContext {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id'?: (string);
  /**
   * Absolute, symlinks resolved: the directory that holds the .claude the link lives in.
   */
  'project_root'?: (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID; empty: the session of the project and day.
   */
  'session_id'?: (string);
  /**
   * Version of this protocol the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version'?: (number);
}

export interface CallContext__Output {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id': (string);
  /**
   * Absolute, symlinks resolved: the directory that holds the .claude the link lives in.
   */
  'project_root': (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID; empty: the session of the project and day.
   */
  'session_id': (string);
  /**
   * Version of this protocol the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version': (number);
}
