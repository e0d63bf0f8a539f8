// Original file: proto/contextd/v1/management.proto

import type { ToolOrigin as _contextd_v1_ToolOrigin, ToolOrigin__Output as _contextd_v1_ToolOrigin__Output } from '../../contextd/v1/ToolOrigin.ts';
import type { Long } from '@grpc/proto-loader';

export interface ToolInfo {
  'name'?: (string);
  'purpose'?: (string);
  'bundle_sha256'?: (string);
  /**
   * "core" or "installed".
   */
  'origin'?: (string);
  'schema_json'?: (string);
  'tool_md'?: (string);
  'tool_extended_md'?: (string);
  'grants'?: (string)[];
  'version'?: (string);
  /**
   * Absent for core tools.
   */
  'installed_from'?: (_contextd_v1_ToolOrigin | null);
  /**
   * Milliseconds since the epoch; 0 for core tools.
   */
  'accepted_ms'?: (number | string | Long);
  /**
   * The day of its last call in the project, UTC, such as "2026-01-31"; empty: none in the last 30 days, or not asked.
   */
  'last_used'?: (string);
  'schema_tokens'?: (number);
  /**
   * "ready", or why it cannot be called.
   */
  'state'?: (string);
}

export interface ToolInfo__Output {
  'name': (string);
  'purpose': (string);
  'bundle_sha256': (string);
  /**
   * "core" or "installed".
   */
  'origin': (string);
  'schema_json': (string);
  'tool_md': (string);
  'tool_extended_md': (string);
  'grants': (string)[];
  'version': (string);
  /**
   * Absent for core tools.
   */
  'installed_from': (_contextd_v1_ToolOrigin__Output | null);
  /**
   * Milliseconds since the epoch; 0 for core tools.
   */
  'accepted_ms': (number);
  /**
   * The day of its last call in the project, UTC, such as "2026-01-31"; empty: none in the last 30 days, or not asked.
   */
  'last_used': (string);
  'schema_tokens': (number);
  /**
   * "ready", or why it cannot be called.
   */
  'state': (string);
}
