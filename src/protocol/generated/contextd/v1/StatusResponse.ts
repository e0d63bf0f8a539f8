// Original file: proto/contextd/v1/management.proto

import type { SandboxStatus as _contextd_v1_SandboxStatus, SandboxStatus__Output as _contextd_v1_SandboxStatus__Output } from '../../contextd/v1/SandboxStatus.ts';
import type { Long } from '@grpc/proto-loader';

export interface StatusResponse {
  'pid'?: (number);
  'version'?: (string);
  'uptime_ms'?: (number | string | Long);
  'socket'?: (string);
  /**
   * Calls answered since the start.
   */
  'calls'?: (number | string | Long);
  'active_calls'?: (number);
  'projects'?: (number);
  'resident_bytes'?: (number | string | Long);
  'protocol_version'?: (number);
  /**
   * The isolation level of this machine: "full", "reduced" or "unavailable".
   */
  'isolation'?: (string);
  'sandbox'?: (_contextd_v1_SandboxStatus | null);
}

export interface StatusResponse__Output {
  'pid': (number);
  'version': (string);
  'uptime_ms': (number);
  'socket': (string);
  /**
   * Calls answered since the start.
   */
  'calls': (number);
  'active_calls': (number);
  'projects': (number);
  'resident_bytes': (number);
  'protocol_version': (number);
  /**
   * The isolation level of this machine: "full", "reduced" or "unavailable".
   */
  'isolation': (string);
  'sandbox': (_contextd_v1_SandboxStatus__Output | null);
}
