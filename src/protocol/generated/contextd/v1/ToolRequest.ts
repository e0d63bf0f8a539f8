// Original file: proto/contextd/v1/management.proto


export interface ToolRequest {
  'root'?: (string);
  'name'?: (string);
}

export interface ToolRequest__Output {
  'root': (string);
  'name': (string);
}
