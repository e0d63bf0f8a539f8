// Original file: proto/contextd/v1/management.proto

import type { RunningItem as _contextd_v1_RunningItem, RunningItem__Output as _contextd_v1_RunningItem__Output } from '../../contextd/v1/RunningItem.ts';

export interface RunningResponse {
  'items'?: (_contextd_v1_RunningItem)[];
}

export interface RunningResponse__Output {
  'items': (_contextd_v1_RunningItem__Output)[];
}
