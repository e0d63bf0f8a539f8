// Original file: proto/contextd/v1/management.proto

import type { MemoryLift as _contextd_v1_MemoryLift, MemoryLift__Output as _contextd_v1_MemoryLift__Output } from '../../contextd/v1/MemoryLift.ts';

export interface MemoryReport {
  /**
   * The share of retrievals that is held out now, from 0 to 0.5.
   */
  'holdout'?: (number | string);
  /**
   * Memories that a search found while some were held out, the best known first.
   */
  'memories'?: (_contextd_v1_MemoryLift)[];
}

export interface MemoryReport__Output {
  /**
   * The share of retrievals that is held out now, from 0 to 0.5.
   */
  'holdout': (number);
  /**
   * Memories that a search found while some were held out, the best known first.
   */
  'memories': (_contextd_v1_MemoryLift__Output)[];
}
