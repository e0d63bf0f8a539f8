import type { ExecRequest } from './generated/contextd/v1/ExecRequest.ts';
import type { ExecResponse, ExecResponse__Output as WireResult } from './generated/contextd/v1/ExecResponse.ts';
import { type MessageShape, WireFault } from './wire-bounds.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** UTF-16 characters of one log line; the sender cuts longer ones. */
export const LOG_LINE_MAX_CHARS = 16_384;

/** Why a command ended (design §4). */
const ENDED_BY = ['exit', 'signal', 'timeout', 'oom', 'pids', 'seccomp', 'output_limit', 'cancelled'] as const;
export type EndedBy = (typeof ENDED_BY)[number];

/** A command as a tool asks for it. */
export interface ExecSpec {
  command: string;
  /** Absolute. */
  cwd: string;
  env: Record<string, string>;
  /** Null is an empty stdin. */
  stdin: string | null;
}

/** What a command that the host ran came to. Texts are complete unless `dropped_bytes` says otherwise. */
export interface ExecResult {
  exit_code: number | null;
  signal: string | null;
  ended_by: EndedBy;
  stdout: string;
  stderr: string;
  dropped_bytes: number;
  duration_ms: number;
  /** True when bytes that are not UTF-8 became U+FFFD. */
  encoding_replaced: boolean;
}

/** The requests of ToolHost, and how many fields one may have. */
export const EXEC_SHAPE: MessageShape = {
  1: 'bytes',
  2: 'bytes',
  3: 'bytes',
  4: { 1: 'bytes', 2: 'bytes' },
  5: 'bytes',
};
export const SCRUB_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes' };
export const LOG_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes', 3: 'bytes' };
export const HOST_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes' };
export const HOST_REQUEST_MAX_FIELDS = 10_000;

export function packExecRequest(callId: string, { command, cwd, env, stdin }: ExecSpec): ExecRequest {
  return { call_id: callId, command, cwd, env, ...(stdin === null ? {} : { stdin: Buffer.from(stdin) }) };
}

export function packExecResult({ exit_code, signal, ...rest }: ExecResult): ExecResponse {
  return { ...rest, ...(exit_code === null ? {} : { exit_code }), signal: signal ?? '' };
}

/** Throws WireFault for a daemon that names an unknown end. */
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
  };
}
