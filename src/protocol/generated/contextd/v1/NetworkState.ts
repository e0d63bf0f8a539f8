// Original file: proto/contextd/v1/management.proto

import type { NetworkRuleInfo as _contextd_v1_NetworkRuleInfo, NetworkRuleInfo__Output as _contextd_v1_NetworkRuleInfo__Output } from '../../contextd/v1/NetworkRuleInfo.ts';
import type { NetworkToolInfo as _contextd_v1_NetworkToolInfo, NetworkToolInfo__Output as _contextd_v1_NetworkToolInfo__Output } from '../../contextd/v1/NetworkToolInfo.ts';

export interface NetworkState {
  'root'?: (string);
  /**
   * False if commands have no network at all.
   */
  'is_on'?: (boolean);
  /**
   * "project" or "machine": who decided that.
   */
  'is_on_from'?: (string);
  /**
   * Those of the project and those of the machine.
   */
  'rules'?: (_contextd_v1_NetworkRuleInfo)[];
  /**
   * What ChangeNetwork added or removed, or would add or remove.
   */
  'changed'?: (_contextd_v1_NetworkRuleInfo)[];
  /**
   * What a person should know about the change, one sentence each.
   */
  'notes'?: (string)[];
  /**
   * The tools that ask for a network, and what each may reach.
   */
  'tools'?: (_contextd_v1_NetworkToolInfo)[];
}

export interface NetworkState__Output {
  'root': (string);
  /**
   * False if commands have no network at all.
   */
  'is_on': (boolean);
  /**
   * "project" or "machine": who decided that.
   */
  'is_on_from': (string);
  /**
   * Those of the project and those of the machine.
   */
  'rules': (_contextd_v1_NetworkRuleInfo__Output)[];
  /**
   * What ChangeNetwork added or removed, or would add or remove.
   */
  'changed': (_contextd_v1_NetworkRuleInfo__Output)[];
  /**
   * What a person should know about the change, one sentence each.
   */
  'notes': (string)[];
  /**
   * The tools that ask for a network, and what each may reach.
   */
  'tools': (_contextd_v1_NetworkToolInfo__Output)[];
}
