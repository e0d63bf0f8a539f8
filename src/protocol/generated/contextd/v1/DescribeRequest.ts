// Original file: proto/contextd/v1/plugin.proto


export interface DescribeRequest {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id'?: (number);
  /**
   * Relative to the workspace: what no tool may write, with all below it.
   */
  'protected_paths'?: (string)[];
}

export interface DescribeRequest__Output {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id': (number);
  /**
   * Relative to the workspace: what no tool may write, with all below it.
   */
  'protected_paths': (string)[];
}
