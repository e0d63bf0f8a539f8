// Original file: proto/contextd/v1/management.proto

import type { StatsRow as _contextd_v1_StatsRow, StatsRow__Output as _contextd_v1_StatsRow__Output } from '../../contextd/v1/StatsRow.ts';

export interface StatsResponse {
  'rows'?: (_contextd_v1_StatsRow)[];
}

export interface StatsResponse__Output {
  'rows': (_contextd_v1_StatsRow__Output)[];
}
