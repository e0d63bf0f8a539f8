// Original file: proto/contextd/v1/plugin.proto

import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from '../../contextd/v1/OutputGap.ts';

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
  '_gap'?: "gap";
}
