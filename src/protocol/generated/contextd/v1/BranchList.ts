// Original file: proto/contextd/v1/management.proto

import type { BranchInfo as _contextd_v1_BranchInfo, BranchInfo__Output as _contextd_v1_BranchInfo__Output } from '../../contextd/v1/BranchInfo.ts';

export interface BranchList {
  'branches'?: (_contextd_v1_BranchInfo)[];
}

export interface BranchList__Output {
  'branches': (_contextd_v1_BranchInfo__Output)[];
}
