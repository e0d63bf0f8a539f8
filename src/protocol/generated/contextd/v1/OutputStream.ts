// Original file: proto/contextd/v1/plugin.proto

import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from '../../contextd/v1/OutputGap.ts';
import type { ShownPart as _contextd_v1_ShownPart, ShownPart__Output as _contextd_v1_ShownPart__Output } from '../../contextd/v1/ShownPart.ts';

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
  'parts'?: (_contextd_v1_ShownPart)[];
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
  'parts': (_contextd_v1_ShownPart__Output)[];
  '_gap'?: "gap";
}
