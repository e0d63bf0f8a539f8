// Original file: proto/contextd/v1/management.proto

import type { BranchFile as _contextd_v1_BranchFile, BranchFile__Output as _contextd_v1_BranchFile__Output } from '../../contextd/v1/BranchFile.ts';

export interface BranchFilesPlan {
  'branch'?: (string);
  /**
   * As in BranchInfo.
   */
  'state'?: (string);
  /**
   * "A path", "M path" or "D path", in the order of the paths.
   */
  'changes'?: (string)[];
  /**
   * Nothing is merged if there is any.
   */
  'conflicts'?: (_contextd_v1_BranchFile)[];
  /**
   * Never merged.
   */
  'skipped'?: (_contextd_v1_BranchFile)[];
  /**
   * Commits that stay behind: id and subject.
   */
  'commits'?: (string)[];
  'patch'?: (string);
  /**
   * Files that found no room in the patch.
   */
  'patch_left'?: (number);
  /**
   * By which a merge can be undone; empty in a plan, and if nothing was changed in the project.
   */
  'undone_by'?: (string);
}

export interface BranchFilesPlan__Output {
  'branch': (string);
  /**
   * As in BranchInfo.
   */
  'state': (string);
  /**
   * "A path", "M path" or "D path", in the order of the paths.
   */
  'changes': (string)[];
  /**
   * Nothing is merged if there is any.
   */
  'conflicts': (_contextd_v1_BranchFile__Output)[];
  /**
   * Never merged.
   */
  'skipped': (_contextd_v1_BranchFile__Output)[];
  /**
   * Commits that stay behind: id and subject.
   */
  'commits': (string)[];
  'patch': (string);
  /**
   * Files that found no room in the patch.
   */
  'patch_left': (number);
  /**
   * By which a merge can be undone; empty in a plan, and if nothing was changed in the project.
   */
  'undone_by': (string);
}
