// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface AllowedValue {
  /**
   * Hexadecimal.
   */
  'id'?: (string);
  /**
   * Project root. Empty: every project.
   */
  'root'?: (string);
  /**
   * The rule that had found it. Empty if it was given as a value.
   */
  'rule'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'allowed_ms'?: (number | string | Long);
  'by'?: (string);
}

export interface AllowedValue__Output {
  /**
   * Hexadecimal.
   */
  'id': (string);
  /**
   * Project root. Empty: every project.
   */
  'root': (string);
  /**
   * The rule that had found it. Empty if it was given as a value.
   */
  'rule': (string);
  /**
   * Milliseconds since the epoch.
   */
  'allowed_ms': (number);
  'by': (string);
}
