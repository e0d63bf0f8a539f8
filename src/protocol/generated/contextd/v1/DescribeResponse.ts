// Original file: proto/contextd/v1/plugin.proto


export interface DescribeResponse {
  /**
   * The names of the tools this process serves.
   */
  'tools'?: (string)[];
}

export interface DescribeResponse__Output {
  /**
   * The names of the tools this process serves.
   */
  'tools': (string)[];
}
