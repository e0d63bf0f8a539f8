// Original file: proto/contextd/v1/management.proto

import type { MemoryItem as _contextd_v1_MemoryItem, MemoryItem__Output as _contextd_v1_MemoryItem__Output } from '../../contextd/v1/MemoryItem.ts';

export interface MemoryList {
  'memories'?: (_contextd_v1_MemoryItem)[];
}

export interface MemoryList__Output {
  'memories': (_contextd_v1_MemoryItem__Output)[];
}
