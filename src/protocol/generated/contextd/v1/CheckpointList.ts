// Original file: proto/contextd/v1/management.proto

import type { CheckpointItem as _contextd_v1_CheckpointItem, CheckpointItem__Output as _contextd_v1_CheckpointItem__Output } from '../../contextd/v1/CheckpointItem.ts';

export interface CheckpointList {
  'checkpoints'?: (_contextd_v1_CheckpointItem)[];
}

export interface CheckpointList__Output {
  'checkpoints': (_contextd_v1_CheckpointItem__Output)[];
}
