// Original file: proto/contextd/v1/plugin.proto

import type { SecretSpan as _contextd_v1_SecretSpan, SecretSpan__Output as _contextd_v1_SecretSpan__Output } from '../../contextd/v1/SecretSpan.ts';

export interface LeafSpans {
  'spans'?: (_contextd_v1_SecretSpan)[];
}

export interface LeafSpans__Output {
  'spans': (_contextd_v1_SecretSpan__Output)[];
}
