// Original file: proto/contextd/v1/management.proto

import type { MemoryItem as _contextd_v1_MemoryItem, MemoryItem__Output as _contextd_v1_MemoryItem__Output } from '../../contextd/v1/MemoryItem.ts';

export interface MemoryList {
  'memories'?: (_contextd_v1_MemoryItem)[];
  /**
   * Of a search: why the shared store was not asked, so that what others stored last may be missing, and why meaning was not
   * compared; empty if neither happened.
   */
  'degraded'?: (string);
}

export interface MemoryList__Output {
  'memories': (_contextd_v1_MemoryItem__Output)[];
  /**
   * Of a search: why the shared store was not asked, so that what others stored last may be missing, and why meaning was not
   * compared; empty if neither happened.
   */
  'degraded': (string);
}
