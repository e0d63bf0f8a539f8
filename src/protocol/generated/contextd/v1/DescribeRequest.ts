// Original file: proto/contextd/v1/plugin.proto


export interface DescribeRequest {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id'?: (number);
  /**
   * Names, or paths of several names, that no tool may write at any depth, with everything below them.
   */
  'protected_paths'?: (string)[];
}

export interface DescribeRequest__Output {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id': (number);
  /**
   * Names, or paths of several names, that no tool may write at any depth, with everything below them.
   */
  'protected_paths': (string)[];
}
