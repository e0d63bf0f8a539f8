// Original file: proto/contextd/v1/management.proto

import type { ReadySandboxes as _contextd_v1_ReadySandboxes, ReadySandboxes__Output as _contextd_v1_ReadySandboxes__Output } from '../../contextd/v1/ReadySandboxes.ts';
import type { SandboxTotals as _contextd_v1_SandboxTotals, SandboxTotals__Output as _contextd_v1_SandboxTotals__Output } from '../../contextd/v1/SandboxTotals.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * What runs and waits now.
 */
export interface SandboxStatus {
  /**
   * 0 if no spawner runs.
   */
  'spawner_pid'?: (number);
  'spawner_resident_bytes'?: (number | string | Long);
  /**
   * Running commands.
   */
  'running'?: (number);
  /**
   * Long-lived tool processes.
   */
  'processes'?: (number);
  /**
   * Sandboxes that are ready and waiting, by project.
   */
  'ready'?: (_contextd_v1_ReadySandboxes)[];
  /**
   * The maximum number of ready sandboxes.
   */
  'ready_max'?: (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals'?: (_contextd_v1_SandboxTotals | null);
  /**
   * Commands that a ready sandbox has served.
   */
  'ready_used'?: (number | string | Long);
}

/**
 * What runs and waits now.
 */
export interface SandboxStatus__Output {
  /**
   * 0 if no spawner runs.
   */
  'spawner_pid': (number);
  'spawner_resident_bytes': (number);
  /**
   * Running commands.
   */
  'running': (number);
  /**
   * Long-lived tool processes.
   */
  'processes': (number);
  /**
   * Sandboxes that are ready and waiting, by project.
   */
  'ready': (_contextd_v1_ReadySandboxes__Output)[];
  /**
   * The maximum number of ready sandboxes.
   */
  'ready_max': (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals': (_contextd_v1_SandboxTotals__Output | null);
  /**
   * Commands that a ready sandbox has served.
   */
  'ready_used': (number);
}
