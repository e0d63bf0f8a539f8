// Original file: proto/contextd/v1/host.proto


export interface ScrubResponse {
  /**
   * In the order of the request.
   */
  'texts'?: (string)[];
}

export interface ScrubResponse__Output {
  /**
   * In the order of the request.
   */
  'texts': (string)[];
}
