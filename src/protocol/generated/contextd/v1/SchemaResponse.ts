// Original file: proto/contextd/v1/tool.proto


export interface SchemaResponse {
  'schema_json'?: (string);
  'tool_md'?: (string);
  'tool_extended_md'?: (string);
  /**
   * sha256 of the bundle the tool runs from, hexadecimal.
   */
  'bundle_sha256'?: (string);
}

export interface SchemaResponse__Output {
  'schema_json': (string);
  'tool_md': (string);
  'tool_extended_md': (string);
  /**
   * sha256 of the bundle the tool runs from, hexadecimal.
   */
  'bundle_sha256': (string);
}
