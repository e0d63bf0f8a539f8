// Original file: proto/contextd/v1/management.proto

import type { SecretSummary as _contextd_v1_SecretSummary, SecretSummary__Output as _contextd_v1_SecretSummary__Output } from '../../contextd/v1/SecretSummary.ts';

export interface SessionSecretsResponse {
  'root'?: (string);
  'session'?: (string);
  'secrets'?: (_contextd_v1_SecretSummary)[];
}

export interface SessionSecretsResponse__Output {
  'root': (string);
  'session': (string);
  'secrets': (_contextd_v1_SecretSummary__Output)[];
}
