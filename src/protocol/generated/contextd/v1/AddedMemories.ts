// Original file: proto/contextd/v1/management.proto

import type { AddedMemory as _contextd_v1_AddedMemory, AddedMemory__Output as _contextd_v1_AddedMemory__Output } from '../../contextd/v1/AddedMemory.ts';

export interface AddedMemories {
  /**
   * In the order of the request.
   */
  'results'?: (_contextd_v1_AddedMemory)[];
}

export interface AddedMemories__Output {
  /**
   * In the order of the request.
   */
  'results': (_contextd_v1_AddedMemory__Output)[];
}
