// Original file: proto/contextd/v1/host.proto


export interface ExecRequest {
  'call_id'?: (string);
  'command'?: (string);
  /**
   * Absolute, inside the workspace. Empty: the workspace.
   */
  'cwd'?: (string);
  'env'?: ({[key: string]: string});
  /**
   * Absent means an empty stdin.
   */
  'stdin'?: (Buffer | Uint8Array | string);
  /**
   * True: the command gets a loopback of its own instead of the one that the commands of the project share.
   */
  'own_loopback'?: (boolean);
  /**
   * True: the command runs on a terminal, and stdout has what the terminal showed, as text.
   */
  'tty'?: (boolean);
  '_stdin'?: "stdin";
}

export interface ExecRequest__Output {
  'call_id': (string);
  'command': (string);
  /**
   * Absolute, inside the workspace. Empty: the workspace.
   */
  'cwd': (string);
  'env': ({[key: string]: string});
  /**
   * Absent means an empty stdin.
   */
  'stdin'?: (Buffer);
  /**
   * True: the command gets a loopback of its own instead of the one that the commands of the project share.
   */
  'own_loopback': (boolean);
  /**
   * True: the command runs on a terminal, and stdout has what the terminal showed, as text.
   */
  'tty': (boolean);
  '_stdin'?: "stdin";
}
