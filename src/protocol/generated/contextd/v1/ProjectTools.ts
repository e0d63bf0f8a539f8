// Original file: proto/contextd/v1/management.proto

import type { ToolInfo as _contextd_v1_ToolInfo, ToolInfo__Output as _contextd_v1_ToolInfo__Output } from '../../contextd/v1/ToolInfo.ts';

export interface ProjectTools {
  'root'?: (string);
  /**
   * The core tools and the installed tools of the project.
   */
  'tools'?: (_contextd_v1_ToolInfo)[];
}

export interface ProjectTools__Output {
  'root': (string);
  /**
   * The core tools and the installed tools of the project.
   */
  'tools': (_contextd_v1_ToolInfo__Output)[];
}
