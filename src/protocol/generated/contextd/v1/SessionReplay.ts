// Original file: proto/contextd/v1/management.proto

import type { ReplayedContext as _contextd_v1_ReplayedContext, ReplayedContext__Output as _contextd_v1_ReplayedContext__Output } from '../../contextd/v1/ReplayedContext.ts';

export interface SessionReplay {
  'session'?: (string);
  'contexts'?: (_contextd_v1_ReplayedContext)[];
}

export interface SessionReplay__Output {
  'session': (string);
  'contexts': (_contextd_v1_ReplayedContext__Output)[];
}
