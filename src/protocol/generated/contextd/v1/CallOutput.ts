// Original file: proto/contextd/v1/plugin.proto

import type { OutputStream as _contextd_v1_OutputStream, OutputStream__Output as _contextd_v1_OutputStream__Output } from '../../contextd/v1/OutputStream.ts';
import type { Failure as _contextd_v1_Failure, Failure__Output as _contextd_v1_Failure__Output } from '../../contextd/v1/Failure.ts';
import type { LeafSpans as _contextd_v1_LeafSpans, LeafSpans__Output as _contextd_v1_LeafSpans__Output } from '../../contextd/v1/LeafSpans.ts';
import type { Long } from '@grpc/proto-loader';

export interface CallOutput {
  /**
   * Small facts, one JSON object as UTF-8 text; never cut.
   */
  'data_json'?: (Buffer | Uint8Array | string);
  /**
   * Long texts in the order in which they are shown.
   */
  'streams'?: (_contextd_v1_OutputStream)[];
  /**
   * The tool began and then failed. Data and streams are sent too.
   */
  'failure'?: (_contextd_v1_Failure | null);
  /**
   * Bytes beyond output_max_bytes that were dropped.
   */
  'dropped_bytes'?: (number | string | Long);
  'warnings'?: (string)[];
  /**
   * What looks like a secret, per string leaf of {data, streams}. Empty if the tool did not search.
   */
  'first_pass'?: (_contextd_v1_LeafSpans)[];
  /**
   * True if the tool has applied the view itself: its texts are shown as they are.
   */
  'view_applied'?: (boolean);
}

export interface CallOutput__Output {
  /**
   * Small facts, one JSON object as UTF-8 text; never cut.
   */
  'data_json': (Buffer);
  /**
   * Long texts in the order in which they are shown.
   */
  'streams': (_contextd_v1_OutputStream__Output)[];
  /**
   * The tool began and then failed. Data and streams are sent too.
   */
  'failure': (_contextd_v1_Failure__Output | null);
  /**
   * Bytes beyond output_max_bytes that were dropped.
   */
  'dropped_bytes': (number);
  'warnings': (string)[];
  /**
   * What looks like a secret, per string leaf of {data, streams}. Empty if the tool did not search.
   */
  'first_pass': (_contextd_v1_LeafSpans__Output)[];
  /**
   * True if the tool has applied the view itself: its texts are shown as they are.
   */
  'view_applied': (boolean);
}
