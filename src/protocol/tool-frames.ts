import type { JsonObject } from '../core/json.ts';
import { Fields } from './fields.ts';
import {
  type ExecResult,
  packFirstPass,
  parseExecResult,
  parseFailure,
  parseFirstPass,
  parseToolOutput,
  type SecretSpan,
  type ToolFailure,
  type ToolOutput,
} from './tool-output.ts';

/**
 * The version both sides say in their first frame. It changes when a frame changes; the two sides are of one
 * installation, so any difference is an error and none is bridged.
 */
export const TOOL_PROTOCOL_VERSION = 1;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const CANCEL_REASONS = ['timeout', 'cancelled'] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

export interface ExecSpec {
  command: string;
  /** Absolute. */
  cwd: string;
  env: Record<string, string>;
  stdin: string | null;
}

/** What the daemon asks of a tool for one call. */
export interface CallFrame {
  type: 'call';
  id: number;
  request_id: string;
  tool: string;
  workspace: string;
  etag_key: string;
  /** Milliseconds from now until the call is over. */
  timeout_ms: number;
  /** Bytes of text a tool gives back at most; of more it keeps head and tail. */
  output_max_bytes: number;
  input: JsonObject;
}

/** Frames from the daemon. `id` is the call, `exec` one command within it. */
export type DaemonFrame =
  | { type: 'hello'; version: number; protected_paths: readonly string[] }
  | CallFrame
  | { type: 'cancel'; id: number; reason: CancelReason }
  | { type: 'exec_result'; id: number; exec: number; result: ExecResult }
  | { type: 'exec_error'; id: number; exec: number; error: ToolFailure }
  | { type: 'ping'; nonce: number };

/** Frames from the tool process. `scanning`: the tool is done and its output is being searched for secrets. */
export type ToolFrame =
  | { type: 'hello'; version: number; tools: readonly string[] }
  | { type: 'exec'; id: number; exec: number; spec: ExecSpec }
  | { type: 'log'; id: number; level: LogLevel; message: string }
  | { type: 'scanning'; id: number; chars: number }
  | { type: 'result'; id: number; output: ToolOutput; firstPass: readonly (readonly SecretSpan[])[] }
  | { type: 'error'; id: number; error: ToolFailure }
  | { type: 'pong'; nonce: number };

const TOOL_TYPES = ['hello', 'exec', 'log', 'scanning', 'result', 'error', 'pong'] as const;
const DAEMON_TYPES = ['hello', 'call', 'cancel', 'exec_result', 'exec_error', 'ping'] as const;
const MAX_TOOLS = 1_000;
const MAX_PATHS = 1_000;
const MAX_LOG_CHARS = 16_384;

/** Checks a frame that a tool process sent. Throws FrameError. */
export function parseToolFrame(value: unknown): ToolFrame {
  const fields = new Fields('frame', value);
  const type = fields.oneOf('type', TOOL_TYPES);
  switch (type) {
    case 'hello':
      return parseHello(fields);
    case 'exec':
      return { type, id: fields.integer('id'), exec: fields.integer('exec'), spec: parseSpec(fields.nested('spec')) };
    case 'log':
      return {
        type,
        id: fields.integer('id'),
        level: fields.oneOf('level', LOG_LEVELS),
        message: fields.string('message', MAX_LOG_CHARS),
      };
    case 'scanning':
      return { type, id: fields.integer('id'), chars: fields.integer('chars') };
    case 'result':
      return parseResult(fields);
    case 'error':
      return { type, id: fields.integer('id'), error: parseFailure(fields.nested('error')) };
    case 'pong':
      return { type, nonce: fields.integer('nonce') };
  }
}

/** Checks a frame that the daemon sent. Throws FrameError. */
export function parseDaemonFrame(value: unknown): DaemonFrame {
  const fields = new Fields('frame', value);
  const type = fields.oneOf('type', DAEMON_TYPES);
  switch (type) {
    case 'hello':
      return parseDaemonHello(fields);
    case 'call':
      return parseCall(fields);
    case 'cancel':
      return { type, id: fields.integer('id'), reason: fields.oneOf('reason', CANCEL_REASONS) };
    case 'exec_result':
      return { type, ...execIds(fields), result: parseExecResult(fields.nested('result')) };
    case 'exec_error':
      return { type, ...execIds(fields), error: parseFailure(fields.nested('error')) };
    case 'ping':
      return { type, nonce: fields.integer('nonce') };
  }
}

/** A tool frame as it goes over the wire: spans as tuples, because there can be many. */
export function packToolFrame(frame: ToolFrame): object {
  if (frame.type !== 'result') return frame;
  const { firstPass, ...rest } = frame;
  return { ...rest, first_pass: packFirstPass(firstPass) };
}

/** Longer messages than a frame may carry are cut by the sender. */
export function cutLogMessage(message: string): string {
  return message.slice(0, MAX_LOG_CHARS);
}

/** Of another version only the version can be read. */
function parseHello(fields: Fields): ToolFrame {
  const version = fields.integer('version');
  return { type: 'hello', version, tools: version === TOOL_PROTOCOL_VERSION ? fields.strings('tools', MAX_TOOLS) : [] };
}

function parseDaemonHello(fields: Fields): DaemonFrame {
  const version = fields.integer('version');
  const isOurs = version === TOOL_PROTOCOL_VERSION;
  return { type: 'hello', version, protected_paths: isOurs ? fields.strings('protected_paths', MAX_PATHS) : [] };
}

function parseResult(fields: Fields): ToolFrame {
  const firstPass = parseFirstPass(fields.list('first_pass', Number.MAX_SAFE_INTEGER));
  return { type: 'result', id: fields.integer('id'), output: parseToolOutput(fields.value('output')), firstPass };
}

function parseSpec(fields: Fields): ExecSpec {
  fields.only('command', 'cwd', 'env', 'stdin');
  return {
    command: fields.string('command'),
    cwd: fields.string('cwd'),
    env: fields.stringMap('env'),
    stdin: fields.nullableString('stdin'),
  };
}

function parseCall(fields: Fields): CallFrame {
  return {
    type: 'call',
    id: fields.integer('id'),
    request_id: fields.string('request_id'),
    tool: fields.string('tool'),
    workspace: fields.string('workspace'),
    etag_key: fields.string('etag_key'),
    timeout_ms: fields.integer('timeout_ms'),
    output_max_bytes: fields.integer('output_max_bytes'),
    input: fields.anyObject('input'),
  };
}

function execIds(fields: Fields): { id: number; exec: number } {
  return { id: fields.integer('id'), exec: fields.integer('exec') };
}
