import type { OutputGap } from '../core/gap.ts';
import { packGap, parseGap } from './gap-message.ts';
import type { ExecRequest, ExecResponse, ExecResponse__Output as WireResult } from './generated/host.ts';
import { type MessageShape, WireFault } from './wire-bounds.ts';

/** Bytes of a request of ToolHost that is JSON, such as a memory. */
export const ASK_MAX_BYTES = 1024 * 1024;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** The most UTF-16 characters of one log line; the sender cuts longer lines. */
export const LOG_LINE_MAX_CHARS = 16_384;

/** Why a command ended (docs/errors.md). */
const ENDED_BY = [
  'exit',
  'signal',
  'timeout',
  'oom',
  'pids',
  'seccomp',
  'output_limit',
  'storage_limit',
  'input',
  'cancelled',
] as const;
export type EndedBy = (typeof ENDED_BY)[number];

/** A command that a tool asks the host to run. */
export interface ExecSpec {
  command: string;
  /** Absolute. */
  cwd: string;
  env: Record<string, string>;
  /** Null: stdin is empty. */
  stdin: string | null;
  /** Default: false, the loopback that the commands of the project share. */
  ownLoopback?: boolean;
  /** Default: false, no terminal. On a terminal, `stdout` is what it showed, as text. */
  tty?: boolean;
}

/** The result of a command. The texts are complete unless `dropped_bytes` is above 0. */
export interface ExecResult {
  exit_code: number | null;
  signal: string | null;
  ended_by: EndedBy;
  stdout: string;
  stderr: string;
  dropped_bytes: number;
  duration_ms: number;
  /** True if bytes that the encoding does not have were replaced by U+FFFD. */
  encoding_replaced: boolean;
  /** The encodings that the streams were decoded from; empty: UTF-8. */
  stdout_encoding: string;
  stderr_encoding: string;
  /** What is missing in the middle of each stream; null if nothing is. */
  stdout_gap: OutputGap | null;
  stderr_gap: OutputGap | null;
  /** What a killed command did: `input`, `network`, `lock`, `busy` or `other`; empty: not killed, or not known. */
  doing: string;
  /** The same in words. */
  doing_text: string;
}

/** The shapes of the requests of ToolHost, and the most fields a request may have. */
export const EXEC_SHAPE: MessageShape = {
  1: 'bytes',
  2: 'bytes',
  3: 'bytes',
  4: { 1: 'bytes', 2: 'bytes' },
  5: 'bytes',
  10: 'uint32',
  11: 'uint32',
};
export const SCRUB_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes' };
export const LOG_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes', 3: 'bytes' };
export const HOST_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes' };
export const HOST_REQUEST_MAX_FIELDS = 10_000;

export function packExecRequest(callId: string, spec: ExecSpec): ExecRequest {
  const { command, cwd, env, stdin, ownLoopback = false, tty = false } = spec;
  const input = stdin === null ? {} : { stdin: Buffer.from(stdin) };
  return { call_id: callId, command, cwd, env, own_loopback: ownLoopback, tty, ...input };
}

export function packExecResult({ exit_code, signal, stdout_gap, stderr_gap, ...rest }: ExecResult): ExecResponse {
  return {
    ...rest,
    ...(exit_code === null ? {} : { exit_code }),
    signal: signal ?? '',
    ...(stdout_gap === null ? {} : { stdout_gap: packGap(stdout_gap) }),
    ...(stderr_gap === null ? {} : { stderr_gap: packGap(stderr_gap) }),
  };
}

/** Throws WireFault if the daemon names an unknown end. */
export function parseExecResult(message: WireResult): ExecResult {
  const endedBy = ENDED_BY.find((known) => known === message.ended_by);
  if (endedBy === undefined) throw new WireFault(`ended_by is not one of ${ENDED_BY.join(', ')}`);
  return {
    exit_code: message.exit_code ?? null,
    signal: message.signal === '' ? null : message.signal,
    ended_by: endedBy,
    stdout: message.stdout,
    stderr: message.stderr,
    dropped_bytes: message.dropped_bytes,
    duration_ms: message.duration_ms,
    encoding_replaced: message.encoding_replaced,
    stdout_encoding: message.stdout_encoding,
    stderr_encoding: message.stderr_encoding,
    stdout_gap: parseGap(message.stdout_gap, message.stdout),
    stderr_gap: parseGap(message.stderr_gap, message.stderr),
    doing: message.doing,
    doing_text: message.doing_text,
  };
}
