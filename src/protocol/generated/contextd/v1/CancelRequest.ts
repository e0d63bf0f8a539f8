// Original file: proto/contextd/v1/plugin.proto

import type { CancelReason as _contextd_v1_CancelReason, CancelReason__Output as _contextd_v1_CancelReason__Output } from '../../contextd/v1/CancelReason.ts';

export interface CancelRequest {
  'call_id'?: (string);
  'reason'?: (_contextd_v1_CancelReason);
}

export interface CancelRequest__Output {
  'call_id': (string);
  'reason': (_contextd_v1_CancelReason__Output);
}
