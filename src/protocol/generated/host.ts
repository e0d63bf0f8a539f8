// Original file: proto/contextd/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface ExecRequest {
  'call_id'?: (string);
  'command'?: (string);
  /**
   * Absolute, inside the workspace. Empty: the workspace.
   */
  'cwd'?: (string);
  'env'?: ({[key: string]: string});
  /**
   * Absent means an empty stdin.
   */
  'stdin'?: (Buffer | Uint8Array | string);
  /**
   * True: the command gets a loopback of its own instead of the one that the commands of the project share.
   */
  'own_loopback'?: (boolean);
  /**
   * True: the command runs on a terminal, and stdout has what the terminal showed, as text.
   */
  'tty'?: (boolean);
  '_stdin'?: "stdin";
}

export interface ExecRequest__Output {
  'call_id': (string);
  'command': (string);
  /**
   * Absolute, inside the workspace. Empty: the workspace.
   */
  'cwd': (string);
  'env': ({[key: string]: string});
  /**
   * Absent means an empty stdin.
   */
  'stdin'?: (Buffer);
  /**
   * True: the command gets a loopback of its own instead of the one that the commands of the project share.
   */
  'own_loopback': (boolean);
  /**
   * True: the command runs on a terminal, and stdout has what the terminal showed, as text.
   */
  'tty': (boolean);
  '_stdin'?: "stdin";
}

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
   * exit, signal, timeout, oom, pids, seccomp, output_limit, storage_limit, input or cancelled.
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
  'stdout_gap'?: (OutputGap | null);
  'stderr_gap'?: (OutputGap | null);
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
   * exit, signal, timeout, oom, pids, seccomp, output_limit, storage_limit, input or cancelled.
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
  'stdout_gap'?: (OutputGap__Output | null);
  'stderr_gap'?: (OutputGap__Output | null);
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

/**
 * A request in JSON; the documentation of its method describes it.
 */
export interface HostRequest {
  'call_id'?: (string);
  'json'?: (Buffer | Uint8Array | string);
}

/**
 * A request in JSON; the documentation of its method describes it.
 */
export interface HostRequest__Output {
  'call_id': (string);
  'json': (Buffer);
}

export interface HostResponse {
  'json'?: (Buffer | Uint8Array | string);
}

export interface HostResponse__Output {
  'json': (Buffer);
}

export interface LogRequest {
  'call_id'?: (string);
  /**
   * debug, info, warn or error.
   */
  'level'?: (string);
  'message'?: (string);
}

export interface LogRequest__Output {
  'call_id': (string);
  /**
   * debug, info, warn or error.
   */
  'level': (string);
  'message': (string);
}

export interface LogResponse {
}

export interface LogResponse__Output {
}

/**
 * The part of a text that was not kept, because the text was longer than the limit. A line of contextd stands in its
 * place.
 */
export interface OutputGap {
  /**
   * Where this line begins and ends in the text: UTF-16 offsets, the end with its newline.
   */
  'start'?: (number);
  'end'?: (number);
  /**
   * The number of bytes that are missing.
   */
  'bytes'?: (number | string | Long);
  /**
   * The first and the last line that are missing, wholly or in part, counted from 1 in the whole text.
   */
  'first_line'?: (number | string | Long);
  'last_line'?: (number | string | Long);
  /**
   * The number of the line that the text after the gap begins with, or goes on with.
   */
  'next_line'?: (number | string | Long);
}

/**
 * The part of a text that was not kept, because the text was longer than the limit. A line of contextd stands in its
 * place.
 */
export interface OutputGap__Output {
  /**
   * Where this line begins and ends in the text: UTF-16 offsets, the end with its newline.
   */
  'start': (number);
  'end': (number);
  /**
   * The number of bytes that are missing.
   */
  'bytes': (number);
  /**
   * The first and the last line that are missing, wholly or in part, counted from 1 in the whole text.
   */
  'first_line': (number);
  'last_line': (number);
  /**
   * The number of the line that the text after the gap begins with, or goes on with.
   */
  'next_line': (number);
}

export interface ScrubRequest {
  'call_id'?: (string);
  'texts'?: (string)[];
}

export interface ScrubRequest__Output {
  'call_id': (string);
  'texts': (string)[];
}

export interface ScrubResponse {
  /**
   * In the order of the request.
   */
  'texts'?: (string)[];
}

export interface ScrubResponse__Output {
  /**
   * In the order of the request.
   */
  'texts': (string)[];
}
