// Original file: proto/contextd/v1/management.proto

import type { AllowedValue as _contextd_v1_AllowedValue, AllowedValue__Output as _contextd_v1_AllowedValue__Output } from '../../contextd/v1/AllowedValue.ts';

export interface AllowedValues {
  /**
   * Those of the project, then those of every project; oldest first.
   */
  'values'?: (_contextd_v1_AllowedValue)[];
  /**
   * What the request added or removed.
   */
  'changed'?: (_contextd_v1_AllowedValue)[];
  /**
   * The session whose token was allowed. Empty if none was named.
   */
  'session'?: (string);
}

export interface AllowedValues__Output {
  /**
   * Those of the project, then those of every project; oldest first.
   */
  'values': (_contextd_v1_AllowedValue__Output)[];
  /**
   * What the request added or removed.
   */
  'changed': (_contextd_v1_AllowedValue__Output)[];
  /**
   * The session whose token was allowed. Empty if none was named.
   */
  'session': (string);
}
