// Original file: proto/contextd/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface ExecResponse {
  /**
   * As a shell reports it; absent if the command was killed from outside.
   */
  'exit_code'?: (number);
  /**
   * The name of the signal that ended it, or empty.
   */
  'signal'?: (string);
  /**
   * exit, signal, timeout, oom, pids, seccomp, output_limit or cancelled.
   */
  'ended_by'?: (string);
  'stdout'?: (string);
  'stderr'?: (string);
  /**
   * Bytes that were dropped.
   */
  'dropped_bytes'?: (number | string | Long);
  'duration_ms'?: (number | string | Long);
  /**
   * True if bytes that are not UTF-8 were replaced by U+FFFD.
   */
  'encoding_replaced'?: (boolean);
  '_exit_code'?: "exit_code";
}

export interface ExecResponse__Output {
  /**
   * As a shell reports it; absent if the command was killed from outside.
   */
  'exit_code'?: (number);
  /**
   * The name of the signal that ended it, or empty.
   */
  'signal': (string);
  /**
   * exit, signal, timeout, oom, pids, seccomp, output_limit or cancelled.
   */
  'ended_by': (string);
  'stdout': (string);
  'stderr': (string);
  /**
   * Bytes that were dropped.
   */
  'dropped_bytes': (number);
  'duration_ms': (number);
  /**
   * True if bytes that are not UTF-8 were replaced by U+FFFD.
   */
  'encoding_replaced': (boolean);
  '_exit_code'?: "exit_code";
}
