// Original file: proto/contextd/v1/management.proto

import type { HandedIn as _contextd_v1_HandedIn, HandedIn__Output as _contextd_v1_HandedIn__Output } from '../../contextd/v1/HandedIn.ts';

export interface HookReport {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As the client names it. Empty means the session that a call without a name gets.
   */
  'session'?: (string);
  /**
   * session-start, pre-compact, stop or post-tool.
   */
  'hook'?: (string);
  /**
   * Why it happened, as the client says it, such as auto. May be empty.
   */
  'cause'?: (string);
  'items'?: (_contextd_v1_HandedIn)[];
}

export interface HookReport__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As the client names it. Empty means the session that a call without a name gets.
   */
  'session': (string);
  /**
   * session-start, pre-compact, stop or post-tool.
   */
  'hook': (string);
  /**
   * Why it happened, as the client says it, such as auto. May be empty.
   */
  'cause': (string);
  'items': (_contextd_v1_HandedIn__Output)[];
}
