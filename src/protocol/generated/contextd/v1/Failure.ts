// Original file: proto/contextd/v1/plugin.proto


export interface Failure {
  /**
   * A code of docs/errors.md.
   */
  'code'?: (string);
  'message'?: (string);
  'remedy'?: (string);
  /**
   * One JSON object as UTF-8 text, or empty.
   */
  'details_json'?: (Buffer | Uint8Array | string);
}

export interface Failure__Output {
  /**
   * A code of docs/errors.md.
   */
  'code': (string);
  'message': (string);
  'remedy': (string);
  /**
   * One JSON object as UTF-8 text, or empty.
   */
  'details_json': (Buffer);
}
