// Original file: proto/contextd/v1/tool.proto


export interface ExecuteResponse {
  /**
   * The line to print, without its newline.
   */
  'envelope_json'?: (Buffer | Uint8Array | string);
  /**
   * The exit code of design section 4.
   */
  'exit_code'?: (number);
  /**
   * One line for stderr; empty on success.
   */
  'error_line'?: (string);
}

export interface ExecuteResponse__Output {
  /**
   * The line to print, without its newline.
   */
  'envelope_json': (Buffer);
  /**
   * The exit code of design section 4.
   */
  'exit_code': (number);
  /**
   * One line for stderr; empty on success.
   */
  'error_line': (string);
}
