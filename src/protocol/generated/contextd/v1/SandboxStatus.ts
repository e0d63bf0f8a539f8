// Original file: proto/contextd/v1/management.proto

import type { ReadySandboxes as _contextd_v1_ReadySandboxes, ReadySandboxes__Output as _contextd_v1_ReadySandboxes__Output } from '../../contextd/v1/ReadySandboxes.ts';
import type { SandboxTotals as _contextd_v1_SandboxTotals, SandboxTotals__Output as _contextd_v1_SandboxTotals__Output } from '../../contextd/v1/SandboxTotals.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * What runs and waits at this moment.
 */
export interface SandboxStatus {
  /**
   * 0 while no spawner runs.
   */
  'spawner_pid'?: (number);
  'spawner_resident_bytes'?: (number | string | Long);
  /**
   * Commands under way.
   */
  'running'?: (number);
  /**
   * Long-lived tool processes.
   */
  'processes'?: (number);
  /**
   * Sandboxes that were started ahead and wait, by project.
   */
  'ready'?: (_contextd_v1_ReadySandboxes)[];
  /**
   * The most that may wait in all.
   */
  'ready_max'?: (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals'?: (_contextd_v1_SandboxTotals | null);
  /**
   * Commands that a sandbox started ahead has served.
   */
  'ready_used'?: (number | string | Long);
}

/**
 * What runs and waits at this moment.
 */
export interface SandboxStatus__Output {
  /**
   * 0 while no spawner runs.
   */
  'spawner_pid': (number);
  'spawner_resident_bytes': (number);
  /**
   * Commands under way.
   */
  'running': (number);
  /**
   * Long-lived tool processes.
   */
  'processes': (number);
  /**
   * Sandboxes that were started ahead and wait, by project.
   */
  'ready': (_contextd_v1_ReadySandboxes__Output)[];
  /**
   * The most that may wait in all.
   */
  'ready_max': (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals': (_contextd_v1_SandboxTotals__Output | null);
  /**
   * Commands that a sandbox started ahead has served.
   */
  'ready_used': (number);
}
