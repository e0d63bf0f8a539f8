// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface NetworkRuleInfo {
  /**
   * "project" or "machine".
   */
  'from'?: (string);
  'pattern'?: (string);
  /**
   * "allow" or "deny".
   */
  'verdict'?: (string);
  /**
   * The group that was named; empty if the pattern itself was.
   */
  'group'?: (string);
  'once'?: (boolean);
  /**
   * Milliseconds since the epoch; 0 means no end.
   */
  'expires_ms'?: (number | string | Long);
  /**
   * "any" means every address.
   */
  'private_addresses'?: (string)[];
  'given_ms'?: (number | string | Long);
  'given_by'?: (string);
  /**
   * The denial that makes a permission void; empty if it is in effect.
   */
  'overridden_by'?: (string);
}

export interface NetworkRuleInfo__Output {
  /**
   * "project" or "machine".
   */
  'from': (string);
  'pattern': (string);
  /**
   * "allow" or "deny".
   */
  'verdict': (string);
  /**
   * The group that was named; empty if the pattern itself was.
   */
  'group': (string);
  'once': (boolean);
  /**
   * Milliseconds since the epoch; 0 means no end.
   */
  'expires_ms': (number);
  /**
   * "any" means every address.
   */
  'private_addresses': (string)[];
  'given_ms': (number);
  'given_by': (string);
  /**
   * The denial that makes a permission void; empty if it is in effect.
   */
  'overridden_by': (string);
}
