// Original file: proto/contextd/v1/management.proto

import type { ToolInfo as _contextd_v1_ToolInfo, ToolInfo__Output as _contextd_v1_ToolInfo__Output } from '../../contextd/v1/ToolInfo.ts';

export interface ProjectResponse {
  'root'?: (string);
  /**
   * False if the call changed nothing.
   */
  'changed'?: (boolean);
  'tools'?: (_contextd_v1_ToolInfo)[];
}

export interface ProjectResponse__Output {
  'root': (string);
  /**
   * False if the call changed nothing.
   */
  'changed': (boolean);
  'tools': (_contextd_v1_ToolInfo__Output)[];
}
