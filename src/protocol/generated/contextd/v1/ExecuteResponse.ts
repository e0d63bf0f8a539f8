// Original file: proto/contextd/v1/tool.proto


export interface ExecuteResponse {
  /**
   * JSON form: the line to print, without its newline.
   */
  'envelope_json'?: (Buffer | Uint8Array | string);
  /**
   * The exit status of the command, or the exit code of the error.
   */
  'exit_code'?: (number);
  /**
   * JSON form: one line for stderr; empty on success.
   */
  'error_line'?: (string);
  /**
   * Text form: what to print on stdout, as it is.
   */
  'text_stdout'?: (Buffer | Uint8Array | string);
  /**
   * Text form: what to print on stderr, as it is: the command's own stderr, then the lines of contextd.
   */
  'text_stderr'?: (Buffer | Uint8Array | string);
}

export interface ExecuteResponse__Output {
  /**
   * JSON form: the line to print, without its newline.
   */
  'envelope_json': (Buffer);
  /**
   * The exit status of the command, or the exit code of the error.
   */
  'exit_code': (number);
  /**
   * JSON form: one line for stderr; empty on success.
   */
  'error_line': (string);
  /**
   * Text form: what to print on stdout, as it is.
   */
  'text_stdout': (Buffer);
  /**
   * Text form: what to print on stderr, as it is: the command's own stderr, then the lines of contextd.
   */
  'text_stderr': (Buffer);
}
