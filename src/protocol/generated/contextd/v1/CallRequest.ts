// Original file: proto/contextd/v1/plugin.proto

import type { Long } from '@grpc/proto-loader';

export interface CallRequest {
  /**
   * Identifies this call in every request to ToolHost. It cannot be guessed.
   */
  'call_id'?: (string);
  'request_id'?: (string);
  'tool'?: (string);
  /**
   * The arguments, valid against the tool's schema, as UTF-8 JSON text.
   */
  'input_json'?: (Buffer | Uint8Array | string);
  /**
   * Absolute path of the workspace, the same inside the sandbox as outside.
   */
  'workspace'?: (string);
  /**
   * Key for etags, hexadecimal: one per session.
   */
  'etag_key'?: (string);
  /**
   * Milliseconds from now until the call is over.
   */
  'timeout_ms'?: (number | string | Long);
  /**
   * Maximum bytes of text to return. A tool keeps head and tail of a longer text.
   */
  'output_max_bytes'?: (number | string | Long);
  /**
   * Absolute path of the directory in the workspace from which the call was made. Empty means the workspace.
   */
  'cwd'?: (string);
  /**
   * The view that the caller asked for, as JSON text; absent if none. A tool may apply it itself to a text that is longer
   * than output_max_bytes.
   */
  'view_json'?: (Buffer | Uint8Array | string);
  '_view_json'?: "view_json";
}

export interface CallRequest__Output {
  /**
   * Identifies this call in every request to ToolHost. It cannot be guessed.
   */
  'call_id': (string);
  'request_id': (string);
  'tool': (string);
  /**
   * The arguments, valid against the tool's schema, as UTF-8 JSON text.
   */
  'input_json': (Buffer);
  /**
   * Absolute path of the workspace, the same inside the sandbox as outside.
   */
  'workspace': (string);
  /**
   * Key for etags, hexadecimal: one per session.
   */
  'etag_key': (string);
  /**
   * Milliseconds from now until the call is over.
   */
  'timeout_ms': (number);
  /**
   * Maximum bytes of text to return. A tool keeps head and tail of a longer text.
   */
  'output_max_bytes': (number);
  /**
   * Absolute path of the directory in the workspace from which the call was made. Empty means the workspace.
   */
  'cwd': (string);
  /**
   * The view that the caller asked for, as JSON text; absent if none. A tool may apply it itself to a text that is longer
   * than output_max_bytes.
   */
  'view_json'?: (Buffer);
  '_view_json'?: "view_json";
}
