// Original file: proto/contextd/v1/plugin.proto

import type { Scanning as _contextd_v1_Scanning, Scanning__Output as _contextd_v1_Scanning__Output } from '../../contextd/v1/Scanning.ts';
import type { CallOutput as _contextd_v1_CallOutput, CallOutput__Output as _contextd_v1_CallOutput__Output } from '../../contextd/v1/CallOutput.ts';
import type { Failure as _contextd_v1_Failure, Failure__Output as _contextd_v1_Failure__Output } from '../../contextd/v1/Failure.ts';

export interface CallEvent {
  /**
   * The tool has finished and its output is being searched for secrets, which is not the tool's time. At most once.
   */
  'scanning'?: (_contextd_v1_Scanning | null);
  'output'?: (_contextd_v1_CallOutput | null);
  /**
   * The tool failed without output.
   */
  'failure'?: (_contextd_v1_Failure | null);
  'event'?: "scanning"|"output"|"failure";
}

export interface CallEvent__Output {
  /**
   * The tool has finished and its output is being searched for secrets, which is not the tool's time. At most once.
   */
  'scanning'?: (_contextd_v1_Scanning__Output | null);
  'output'?: (_contextd_v1_CallOutput__Output | null);
  /**
   * The tool failed without output.
   */
  'failure'?: (_contextd_v1_Failure__Output | null);
  'event'?: "scanning"|"output"|"failure";
}
