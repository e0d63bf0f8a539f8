// Original file: proto/contextd/v1/management.proto

import type { InstallProgress as _contextd_v1_InstallProgress, InstallProgress__Output as _contextd_v1_InstallProgress__Output } from '../../contextd/v1/InstallProgress.ts';
import type { ToolPlan as _contextd_v1_ToolPlan, ToolPlan__Output as _contextd_v1_ToolPlan__Output } from '../../contextd/v1/ToolPlan.ts';

export interface InstallEvent {
  'progress'?: (_contextd_v1_InstallProgress | null);
  /**
   * The last event.
   */
  'plan'?: (_contextd_v1_ToolPlan | null);
  'event'?: "progress"|"plan";
}

export interface InstallEvent__Output {
  'progress'?: (_contextd_v1_InstallProgress__Output | null);
  /**
   * The last event.
   */
  'plan'?: (_contextd_v1_ToolPlan__Output | null);
  'event'?: "progress"|"plan";
}
