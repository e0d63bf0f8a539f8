// Original file: proto/contextd/v1/plugin.proto

import type { Long } from '@grpc/proto-loader';
import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from './host.ts';

export interface CallEvent {
  'output'?: (CallOutput | null);
  /**
   * The tool failed without output, or the search of its output for secrets did.
   */
  'failure'?: (Failure | null);
  /**
   * What the search found in the output before.
   */
  'findings'?: (Findings | null);
  'event'?: "output"|"failure"|"findings";
}

export interface CallEvent__Output {
  'output'?: (CallOutput__Output | null);
  /**
   * The tool failed without output, or the search of its output for secrets did.
   */
  'failure'?: (Failure__Output | null);
  /**
   * What the search found in the output before.
   */
  'findings'?: (Findings__Output | null);
  'event'?: "output"|"failure"|"findings";
}

export interface CallOutput {
  /**
   * Small facts, one JSON object as UTF-8 text; never cut.
   */
  'data_json'?: (Buffer | Uint8Array | string);
  /**
   * Long texts in the order in which they are shown.
   */
  'streams'?: (OutputStream)[];
  /**
   * The tool began and then failed. Data and streams are sent too.
   */
  'failure'?: (Failure | null);
  /**
   * Bytes beyond output_max_bytes that were dropped.
   */
  'dropped_bytes'?: (number | string | Long);
  'warnings'?: (string)[];
  /**
   * What looks like a secret, per string leaf of {data, streams}. Empty if the tool did not search.
   */
  'first_pass'?: (LeafSpans)[];
  /**
   * True if the tool's process is still searching: `findings` comes in an event of its own, and first_pass is empty. The
   * search is not the tool's time.
   */
  'findings_follow'?: (boolean);
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
  'streams': (OutputStream__Output)[];
  /**
   * The tool began and then failed. Data and streams are sent too.
   */
  'failure': (Failure__Output | null);
  /**
   * Bytes beyond output_max_bytes that were dropped.
   */
  'dropped_bytes': (number);
  'warnings': (string)[];
  /**
   * What looks like a secret, per string leaf of {data, streams}. Empty if the tool did not search.
   */
  'first_pass': (LeafSpans__Output)[];
  /**
   * True if the tool's process is still searching: `findings` comes in an event of its own, and first_pass is empty. The
   * search is not the tool's time.
   */
  'findings_follow': (boolean);
  /**
   * True if the tool has applied the view itself: its texts are shown as they are.
   */
  'view_applied': (boolean);
}

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

export const CancelReason = {
  CANCEL_REASON_UNSPECIFIED: 0,
  CANCEL_REASON_TIMEOUT: 1,
  CANCEL_REASON_CANCELLED: 2,
} as const;

export type CancelReason =
  | 'CANCEL_REASON_UNSPECIFIED'
  | 0
  | 'CANCEL_REASON_TIMEOUT'
  | 1
  | 'CANCEL_REASON_CANCELLED'
  | 2

export type CancelReason__Output = typeof CancelReason[keyof typeof CancelReason]

export interface CancelRequest {
  'call_id'?: (string);
  'reason'?: (CancelReason);
}

export interface CancelRequest__Output {
  'call_id': (string);
  'reason': (CancelReason__Output);
}

export interface CancelResponse {
}

export interface CancelResponse__Output {
}

export interface DescribeRequest {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id'?: (number);
  /**
   * Names, or paths of several names, that no tool may write at any depth, with everything below them.
   */
  'protected_paths'?: (string)[];
}

export interface DescribeRequest__Output {
  /**
   * The broker's number under which ToolHost is served.
   */
  'host_service_id': (number);
  /**
   * Names, or paths of several names, that no tool may write at any depth, with everything below them.
   */
  'protected_paths': (string)[];
}

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

export interface Findings {
  'leaves'?: (LeafSpans)[];
}

export interface Findings__Output {
  'leaves': (LeafSpans__Output)[];
}

export interface LeafSpans {
  'spans'?: (SecretSpan)[];
}

export interface LeafSpans__Output {
  'spans': (SecretSpan__Output)[];
}

export interface OutputStream {
  /**
   * The key of `data` under which the text is shown.
   */
  'field'?: (string);
  'text'?: (string);
  /**
   * UTF-16 characters at the start and the end of the text that are searched for secrets and never shown.
   */
  'margin_before'?: (number);
  'margin_after'?: (number);
  /**
   * What is missing in the middle of the text; absent if nothing is.
   */
  'gap'?: (_contextd_v1_OutputGap | null);
  /**
   * What is shown of the text; empty: all but the margins. In order, without overlap, and then without margins and a gap.
   */
  'parts'?: (ShownPart)[];
  '_gap'?: "gap";
}

export interface OutputStream__Output {
  /**
   * The key of `data` under which the text is shown.
   */
  'field': (string);
  'text': (string);
  /**
   * UTF-16 characters at the start and the end of the text that are searched for secrets and never shown.
   */
  'margin_before': (number);
  'margin_after': (number);
  /**
   * What is missing in the middle of the text; absent if nothing is.
   */
  'gap'?: (_contextd_v1_OutputGap__Output | null);
  /**
   * What is shown of the text; empty: all but the margins. In order, without overlap, and then without margins and a gap.
   */
  'parts': (ShownPart__Output)[];
  '_gap'?: "gap";
}

export interface SecretSpan {
  'rule'?: (string);
  /**
   * UTF-16 offsets, end exclusive.
   */
  'start'?: (number);
  'end'?: (number);
}

export interface SecretSpan__Output {
  'rule': (string);
  /**
   * UTF-16 offsets, end exclusive.
   */
  'start': (number);
  'end': (number);
}

export interface ShownPart {
  /**
   * UTF-16 offsets in the text; the end is exclusive.
   */
  'start'?: (number);
  'end'?: (number);
  /**
   * The number of the line, as grep writes it: "12:", or "\n13-" after another part. Nothing else is accepted.
   */
  'label'?: (string);
}

export interface ShownPart__Output {
  /**
   * UTF-16 offsets in the text; the end is exclusive.
   */
  'start': (number);
  'end': (number);
  /**
   * The number of the line, as grep writes it: "12:", or "\n13-" after another part. Nothing else is accepted.
   */
  'label': (string);
}
