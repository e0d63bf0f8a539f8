// Original file: proto/contextd/v1/management.proto

import type { NetworkCredentialInfo as _contextd_v1_NetworkCredentialInfo, NetworkCredentialInfo__Output as _contextd_v1_NetworkCredentialInfo__Output } from '../../contextd/v1/NetworkCredentialInfo.ts';

export interface NetworkCredentials {
  /**
   * Those of the project and those of the machine.
   */
  'credentials'?: (_contextd_v1_NetworkCredentialInfo)[];
  /**
   * What was added or removed, or would be.
   */
  'changed'?: (_contextd_v1_NetworkCredentialInfo)[];
  /**
   * What a person should know, one sentence each.
   */
  'notes'?: (string)[];
}

export interface NetworkCredentials__Output {
  /**
   * Those of the project and those of the machine.
   */
  'credentials': (_contextd_v1_NetworkCredentialInfo__Output)[];
  /**
   * What was added or removed, or would be.
   */
  'changed': (_contextd_v1_NetworkCredentialInfo__Output)[];
  /**
   * What a person should know, one sentence each.
   */
  'notes': (string)[];
}
