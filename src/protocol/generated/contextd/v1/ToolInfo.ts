// Original file: proto/contextd/v1/management.proto


export interface ToolInfo {
  'name'?: (string);
  'purpose'?: (string);
  'bundle_sha256'?: (string);
  /**
   * "core" or "installed".
   */
  'origin'?: (string);
  'schema_json'?: (string);
  'tool_md'?: (string);
  'tool_extended_md'?: (string);
  'grants'?: (string)[];
}

export interface ToolInfo__Output {
  'name': (string);
  'purpose': (string);
  'bundle_sha256': (string);
  /**
   * "core" or "installed".
   */
  'origin': (string);
  'schema_json': (string);
  'tool_md': (string);
  'tool_extended_md': (string);
  'grants': (string)[];
}
