// Original file: proto/contextd/v1/management.proto

import type { HealthCheck as _contextd_v1_HealthCheck, HealthCheck__Output as _contextd_v1_HealthCheck__Output } from '../../contextd/v1/HealthCheck.ts';

export interface HealthResponse {
  'checks'?: (_contextd_v1_HealthCheck)[];
}

export interface HealthResponse__Output {
  'checks': (_contextd_v1_HealthCheck__Output)[];
}
