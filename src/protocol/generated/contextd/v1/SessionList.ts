// Original file: proto/contextd/v1/management.proto

import type { SessionSummary as _contextd_v1_SessionSummary, SessionSummary__Output as _contextd_v1_SessionSummary__Output } from '../../contextd/v1/SessionSummary.ts';

export interface SessionList {
  'sessions'?: (_contextd_v1_SessionSummary)[];
}

export interface SessionList__Output {
  'sessions': (_contextd_v1_SessionSummary__Output)[];
}
