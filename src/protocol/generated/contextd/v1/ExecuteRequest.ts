// Original file: proto/contextd/v1/tool.proto

import type { CallContext as _contextd_v1_CallContext, CallContext__Output as _contextd_v1_CallContext__Output } from '../../contextd/v1/CallContext.ts';
import type { CallForm as _contextd_v1_CallForm, CallForm__Output as _contextd_v1_CallForm__Output } from '../../contextd/v1/CallForm.ts';

export interface ExecuteRequest {
  'tool'?: (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json'?: (Buffer | Uint8Array | string);
  'context'?: (_contextd_v1_CallContext | null);
  /**
   * The form of the answer.
   */
  'form'?: (_contextd_v1_CallForm);
  /**
   * Where the caller stands: an absolute path with symlinks resolved. Empty, or outside the project, means its root.
   */
  'cwd'?: (string);
  /**
   * The value of the tool's primary property as plain UTF-8 text, in addition to input_json. Empty if no words were given.
   */
  'input_text'?: (Buffer | Uint8Array | string);
}

export interface ExecuteRequest__Output {
  'tool': (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json': (Buffer);
  'context': (_contextd_v1_CallContext__Output | null);
  /**
   * The form of the answer.
   */
  'form': (_contextd_v1_CallForm__Output);
  /**
   * Where the caller stands: an absolute path with symlinks resolved. Empty, or outside the project, means its root.
   */
  'cwd': (string);
  /**
   * The value of the tool's primary property as plain UTF-8 text, in addition to input_json. Empty if no words were given.
   */
  'input_text': (Buffer);
}
