// Original file: proto/contextd/v1/management.proto

import type { NetworkCredentialInfo as _contextd_v1_NetworkCredentialInfo, NetworkCredentialInfo__Output as _contextd_v1_NetworkCredentialInfo__Output } from '../../contextd/v1/NetworkCredentialInfo.ts';

export interface NetworkCredentialChange {
  /**
   * "scope" is ignored: "root" says where it holds.
   */
  'credential'?: (_contextd_v1_NetworkCredentialInfo | null);
  /**
   * The project root; empty means every project of this machine.
   */
  'root'?: (string);
  /**
   * The secret itself.
   */
  'secret'?: (string);
  'dry_run'?: (boolean);
}

export interface NetworkCredentialChange__Output {
  /**
   * "scope" is ignored: "root" says where it holds.
   */
  'credential': (_contextd_v1_NetworkCredentialInfo__Output | null);
  /**
   * The project root; empty means every project of this machine.
   */
  'root': (string);
  /**
   * The secret itself.
   */
  'secret': (string);
  'dry_run': (boolean);
}
