// Original file: proto/contextd/v1/management.proto

import type { Toolchain as _contextd_v1_Toolchain, Toolchain__Output as _contextd_v1_Toolchain__Output } from '../../contextd/v1/Toolchain.ts';

export interface ToolchainList {
  'toolchains'?: (_contextd_v1_Toolchain)[];
  /**
   * The directories of the person's PATH, in order. Commands find programs in those that their sandbox has.
   */
  'path'?: (string)[];
}

export interface ToolchainList__Output {
  'toolchains': (_contextd_v1_Toolchain__Output)[];
  /**
   * The directories of the person's PATH, in order. Commands find programs in those that their sandbox has.
   */
  'path': (string)[];
}
