// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface NetworkLogRequest {
  /**
   * Empty means all projects, and all sessions.
   */
  'root'?: (string);
  'session'?: (string);
  'denied_only'?: (boolean);
  /**
   * Only entries with a greater id.
   */
  'after_id'?: (number | string | Long);
  /**
   * The number of newest entries; 0 means 50. At most 1000.
   */
  'limit'?: (number);
}

export interface NetworkLogRequest__Output {
  /**
   * Empty means all projects, and all sessions.
   */
  'root': (string);
  'session': (string);
  'denied_only': (boolean);
  /**
   * Only entries with a greater id.
   */
  'after_id': (number);
  /**
   * The number of newest entries; 0 means 50. At most 1000.
   */
  'limit': (number);
}
