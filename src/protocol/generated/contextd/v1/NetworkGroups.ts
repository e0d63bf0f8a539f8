// Original file: proto/contextd/v1/management.proto

import type { NetworkGroup as _contextd_v1_NetworkGroup, NetworkGroup__Output as _contextd_v1_NetworkGroup__Output } from '../../contextd/v1/NetworkGroup.ts';

export interface NetworkGroups {
  'groups'?: (_contextd_v1_NetworkGroup)[];
}

export interface NetworkGroups__Output {
  'groups': (_contextd_v1_NetworkGroup__Output)[];
}
