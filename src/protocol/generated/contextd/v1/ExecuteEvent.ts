// Original file: proto/contextd/v1/tool.proto

import type { Progress as _contextd_v1_Progress, Progress__Output as _contextd_v1_Progress__Output } from '../../contextd/v1/Progress.ts';
import type { ExecuteResponse as _contextd_v1_ExecuteResponse, ExecuteResponse__Output as _contextd_v1_ExecuteResponse__Output } from '../../contextd/v1/ExecuteResponse.ts';

export interface ExecuteEvent {
  'progress'?: (_contextd_v1_Progress | null);
  'answer'?: (_contextd_v1_ExecuteResponse | null);
  'event'?: "progress"|"answer";
}

export interface ExecuteEvent__Output {
  'progress'?: (_contextd_v1_Progress__Output | null);
  'answer'?: (_contextd_v1_ExecuteResponse__Output | null);
  'event'?: "progress"|"answer";
}
