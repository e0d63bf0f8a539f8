// Original file: proto/contextd/v1/plugin.proto

import type { Long } from '@grpc/proto-loader';

export interface Scanning {
  /**
   * UTF-16 characters to search.
   */
  'chars'?: (number | string | Long);
}

export interface Scanning__Output {
  /**
   * UTF-16 characters to search.
   */
  'chars': (number);
}
