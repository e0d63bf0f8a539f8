// Original file: proto/contextd/v1/management.proto

import type { SecretSummary as _contextd_v1_SecretSummary, SecretSummary__Output as _contextd_v1_SecretSummary__Output } from '../../contextd/v1/SecretSummary.ts';

export interface RevealedSecret {
  'summary'?: (_contextd_v1_SecretSummary | null);
  /**
   * The session that was meant.
   */
  'session'?: (string);
  /**
   * Of the call in whose answer it showed first. Empty if that was no call's.
   */
  'request_id'?: (string);
  /**
   * The beginning of that call's input.
   */
  'input'?: (string);
  'value'?: (string);
}

export interface RevealedSecret__Output {
  'summary': (_contextd_v1_SecretSummary__Output | null);
  /**
   * The session that was meant.
   */
  'session': (string);
  /**
   * Of the call in whose answer it showed first. Empty if that was no call's.
   */
  'request_id': (string);
  /**
   * The beginning of that call's input.
   */
  'input': (string);
  'value': (string);
}
