// Original file: proto/contextd/v1/management.proto

import type { MemoryItem as _contextd_v1_MemoryItem, MemoryItem__Output as _contextd_v1_MemoryItem__Output } from '../../contextd/v1/MemoryItem.ts';
import type { MemoryFeedback as _contextd_v1_MemoryFeedback, MemoryFeedback__Output as _contextd_v1_MemoryFeedback__Output } from '../../contextd/v1/MemoryFeedback.ts';

export interface MemoryEvidence {
  'memory'?: (_contextd_v1_MemoryItem | null);
  /**
   * The newest first.
   */
  'feedback'?: (_contextd_v1_MemoryFeedback)[];
}

export interface MemoryEvidence__Output {
  'memory': (_contextd_v1_MemoryItem__Output | null);
  /**
   * The newest first.
   */
  'feedback': (_contextd_v1_MemoryFeedback__Output)[];
}
