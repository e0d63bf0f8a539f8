// Original file: proto/contextd/v1/management.proto

import type { NetworkLogEntry as _contextd_v1_NetworkLogEntry, NetworkLogEntry__Output as _contextd_v1_NetworkLogEntry__Output } from '../../contextd/v1/NetworkLogEntry.ts';

export interface NetworkLogResponse {
  /**
   * Oldest first.
   */
  'entries'?: (_contextd_v1_NetworkLogEntry)[];
}

export interface NetworkLogResponse__Output {
  /**
   * Oldest first.
   */
  'entries': (_contextd_v1_NetworkLogEntry__Output)[];
}
