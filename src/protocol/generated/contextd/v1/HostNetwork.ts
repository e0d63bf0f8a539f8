// Original file: proto/contextd/v1/management.proto

import type { RegistrySetting as _contextd_v1_RegistrySetting, RegistrySetting__Output as _contextd_v1_RegistrySetting__Output } from '../../contextd/v1/RegistrySetting.ts';
import type { PrivateHost as _contextd_v1_PrivateHost, PrivateHost__Output as _contextd_v1_PrivateHost__Output } from '../../contextd/v1/PrivateHost.ts';

/**
 * What commands have of the host's network clients. None of it is secret.
 */
export interface HostNetwork {
  /**
   * PEM: certificates that are trusted besides those of the system.
   */
  'certificates'?: (string)[];
  /**
   * Names of the variables for certificates that the person has set.
   */
  'ca_variables'?: (string)[];
  'registries'?: (_contextd_v1_RegistrySetting)[];
  /**
   * Addresses that are not public and to which hosts of registries lead.
   */
  'private_hosts'?: (_contextd_v1_PrivateHost)[];
}

/**
 * What commands have of the host's network clients. None of it is secret.
 */
export interface HostNetwork__Output {
  /**
   * PEM: certificates that are trusted besides those of the system.
   */
  'certificates': (string)[];
  /**
   * Names of the variables for certificates that the person has set.
   */
  'ca_variables': (string)[];
  'registries': (_contextd_v1_RegistrySetting__Output)[];
  /**
   * Addresses that are not public and to which hosts of registries lead.
   */
  'private_hosts': (_contextd_v1_PrivateHost__Output)[];
}
