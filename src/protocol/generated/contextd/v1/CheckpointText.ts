// Original file: proto/contextd/v1/management.proto

import type { CheckpointItem as _contextd_v1_CheckpointItem, CheckpointItem__Output as _contextd_v1_CheckpointItem__Output } from '../../contextd/v1/CheckpointItem.ts';

export interface CheckpointText {
  'checkpoint'?: (_contextd_v1_CheckpointItem | null);
  'text'?: (string);
  /**
   * If files were put back: the checkpoint that was saved before, and what takes it back. Otherwise empty.
   */
  'saved_first'?: (string);
  'undone_by'?: (string);
}

export interface CheckpointText__Output {
  'checkpoint': (_contextd_v1_CheckpointItem__Output | null);
  'text': (string);
  /**
   * If files were put back: the checkpoint that was saved before, and what takes it back. Otherwise empty.
   */
  'saved_first': (string);
  'undone_by': (string);
}
