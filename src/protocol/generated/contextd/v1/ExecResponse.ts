// Original file: proto/contextd/v1/host.proto

import type { OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output } from '../../contextd/v1/OutputGap.ts';
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
   * exit, signal, timeout, oom, pids, seccomp, output_limit, storage_limit, protected_path, input or
   * cancelled.
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
   * True if bytes that the encoding does not have were replaced by U+FFFD.
   */
  'encoding_replaced'?: (boolean);
  /**
   * What is missing in the middle of stdout and of stderr; absent if nothing is.
   */
  'stdout_gap'?: (_contextd_v1_OutputGap | null);
  'stderr_gap'?: (_contextd_v1_OutputGap | null);
  /**
   * The encodings that stdout and stderr were decoded from, such as "windows-1252"; empty: UTF-8.
   */
  'stdout_encoding'?: (string);
  'stderr_encoding'?: (string);
  /**
   * What a killed command did, if that is known: input, network, lock, busy or other, and in words.
   */
  'doing'?: (string);
  'doing_text'?: (string);
  '_exit_code'?: "exit_code";
  '_stdout_gap'?: "stdout_gap";
  '_stderr_gap'?: "stderr_gap";
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
   * exit, signal, timeout, oom, pids, seccomp, output_limit, storage_limit, protected_path, input or
   * cancelled.
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
   * True if bytes that the encoding does not have were replaced by U+FFFD.
   */
  'encoding_replaced': (boolean);
  /**
   * What is missing in the middle of stdout and of stderr; absent if nothing is.
   */
  'stdout_gap'?: (_contextd_v1_OutputGap__Output | null);
  'stderr_gap'?: (_contextd_v1_OutputGap__Output | null);
  /**
   * The encodings that stdout and stderr were decoded from, such as "windows-1252"; empty: UTF-8.
   */
  'stdout_encoding': (string);
  'stderr_encoding': (string);
  /**
   * What a killed command did, if that is known: input, network, lock, busy or other, and in words.
   */
  'doing': (string);
  'doing_text': (string);
  '_exit_code'?: "exit_code";
  '_stdout_gap'?: "stdout_gap";
  '_stderr_gap'?: "stderr_gap";
}
