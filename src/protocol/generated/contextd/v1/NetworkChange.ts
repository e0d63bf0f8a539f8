// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface NetworkChange {
  /**
   * The project root; empty means every project of this machine.
   */
  'root'?: (string);
  /**
   * "allow", "deny", "remove", "on" or "off".
   */
  'action'?: (string);
  /**
   * Hosts, patterns and groups.
   */
  'targets'?: (string)[];
  /**
   * The first call that uses the permission uses it up.
   */
  'once'?: (boolean);
  /**
   * Milliseconds until the permission ends; 0 means no end.
   */
  'for_ms'?: (number | string | Long);
  /**
   * Addresses that are not public and to which the names may lead; "any" means every address.
   */
  'private_addresses'?: (string)[];
  /**
   * The account of the person, for the record.
   */
  'by'?: (string);
  'dry_run'?: (boolean);
}

export interface NetworkChange__Output {
  /**
   * The project root; empty means every project of this machine.
   */
  'root': (string);
  /**
   * "allow", "deny", "remove", "on" or "off".
   */
  'action': (string);
  /**
   * Hosts, patterns and groups.
   */
  'targets': (string)[];
  /**
   * The first call that uses the permission uses it up.
   */
  'once': (boolean);
  /**
   * Milliseconds until the permission ends; 0 means no end.
   */
  'for_ms': (number);
  /**
   * Addresses that are not public and to which the names may lead; "any" means every address.
   */
  'private_addresses': (string)[];
  /**
   * The account of the person, for the record.
   */
  'by': (string);
  'dry_run': (boolean);
}
