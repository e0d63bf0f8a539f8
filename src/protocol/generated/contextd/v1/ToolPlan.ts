// Original file: proto/contextd/v1/management.proto

import type { ToolInfo as _contextd_v1_ToolInfo, ToolInfo__Output as _contextd_v1_ToolInfo__Output } from '../../contextd/v1/ToolInfo.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * What the acceptance of a tool would change in a project.
 */
export interface ToolPlan {
  'tool'?: (_contextd_v1_ToolInfo | null);
  /**
   * "new", "update" or "same" (accepted already).
   */
  'state'?: (string);
  /**
   * One sentence for each grant, in the order of `tool.grants`.
   */
  'grant_words'?: (string)[];
  /**
   * The grants that this project has not given to this tool.
   */
  'new_grants'?: (string)[];
  /**
   * The accepted version; absent for "new".
   */
  'before'?: (_contextd_v1_ToolInfo | null);
  'files_added'?: (string)[];
  'files_removed'?: (string)[];
  'files_changed'?: (string)[];
  'schema_changed'?: (boolean);
  'files'?: (number);
  'bytes'?: (number | string | Long);
}

/**
 * What the acceptance of a tool would change in a project.
 */
export interface ToolPlan__Output {
  'tool': (_contextd_v1_ToolInfo__Output | null);
  /**
   * "new", "update" or "same" (accepted already).
   */
  'state': (string);
  /**
   * One sentence for each grant, in the order of `tool.grants`.
   */
  'grant_words': (string)[];
  /**
   * The grants that this project has not given to this tool.
   */
  'new_grants': (string)[];
  /**
   * The accepted version; absent for "new".
   */
  'before': (_contextd_v1_ToolInfo__Output | null);
  'files_added': (string)[];
  'files_removed': (string)[];
  'files_changed': (string)[];
  'schema_changed': (boolean);
  'files': (number);
  'bytes': (number);
}
