// Original file: proto/contextd/v1/management.proto

import type { SessionEvent as _contextd_v1_SessionEvent, SessionEvent__Output as _contextd_v1_SessionEvent__Output } from '../../contextd/v1/SessionEvent.ts';

export interface SessionEvents {
  'session'?: (string);
  'events'?: (_contextd_v1_SessionEvent)[];
}

export interface SessionEvents__Output {
  'session': (string);
  'events': (_contextd_v1_SessionEvent__Output)[];
}
