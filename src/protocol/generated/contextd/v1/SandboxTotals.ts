// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface SandboxTotals {
  'memory_bytes'?: (number | string | Long);
  'memory_max_bytes'?: (number | string | Long);
  'pids'?: (number);
  'pids_max'?: (number);
}

export interface SandboxTotals__Output {
  'memory_bytes': (number);
  'memory_max_bytes': (number);
  'pids': (number);
  'pids_max': (number);
}
