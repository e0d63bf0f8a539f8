// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface InstallProgress {
  /**
   * "resolve", "download", "unpack" or "check".
   */
  'step'?: (string);
  'bytes'?: (number | string | Long);
  /**
   * 0: not known.
   */
  'total_bytes'?: (number | string | Long);
  'bytes_per_second'?: (number | string | Long);
  'text'?: (string);
}

export interface InstallProgress__Output {
  /**
   * "resolve", "download", "unpack" or "check".
   */
  'step': (string);
  'bytes': (number);
  /**
   * 0: not known.
   */
  'total_bytes': (number);
  'bytes_per_second': (number);
  'text': (string);
}
