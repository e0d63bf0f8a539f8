import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { Fields } from './fields.ts';
import { FrameError } from './frame-codec.ts';

/** Why a command ended (design §4). */
export const ENDED_BY = ['exit', 'signal', 'timeout', 'oom', 'pids', 'seccomp', 'output_limit', 'cancelled'] as const;
export type EndedBy = (typeof ENDED_BY)[number];

/** A long text of an answer: it is stored whole and cut to the budget, then shown as `data[field]`. */
export interface ToolStream {
  field: string;
  text: string;
}

/** A fault as it travels: code of the closed table, a sentence, its remedy, facts for a program. */
export interface ToolFailure {
  code: ErrorCode;
  message: string;
  remedy?: string;
  details?: JsonObject;
}

/** What a tool gives back. */
export interface ToolOutput {
  /** Small facts; never cut. */
  data: JsonObject;
  /** Long texts in the order they are shown. */
  streams?: readonly ToolStream[];
  /** The tool began and failed: data and streams go out with it. */
  failure?: ToolFailure;
  /** Bytes beyond `output_max` that nobody keeps. */
  droppedBytes?: number;
  warnings?: readonly string[];
}

/** A secret in a text: UTF-16 offsets, end exclusive. The shape of a finding of the scrub room. */
export interface SecretSpan {
  rule: string;
  start: number;
  end: number;
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

const MAX_STREAMS = 16;
const MAX_WARNINGS = 100;
const MAX_LEAVES = 200_000;
const MAX_SPANS = 1_000_000;
const FIELD_PATTERN = /^[a-z][a-z0-9_]{0,31}$/;
const ERROR_CODES = Object.keys(ERROR_TABLE).filter(isErrorCode);

/** Checks what a tool process calls its output and gives it keys in a fixed order. Throws FrameError. */
export function parseToolOutput(value: unknown): ToolOutput {
  const fields = new Fields('output', value).only('data', 'streams', 'failure', 'droppedBytes', 'warnings');
  const data = fields.object('data');
  const streams = fields.has('streams') ? fields.list('streams', MAX_STREAMS).map(parseStream) : undefined;
  checkFieldNames(data, streams ?? []);
  return {
    data,
    ...(streams === undefined ? {} : { streams }),
    ...(fields.has('failure') ? { failure: parseFailure(fields.nested('failure')) } : {}),
    ...(fields.has('droppedBytes') ? { droppedBytes: fields.integer('droppedBytes') } : {}),
    ...(fields.has('warnings') ? { warnings: fields.strings('warnings', MAX_WARNINGS) } : {}),
  };
}

export function parseFailure(fields: Fields): ToolFailure {
  fields.only('code', 'message', 'remedy', 'details');
  return {
    code: fields.oneOf('code', ERROR_CODES),
    message: fields.string('message'),
    ...(fields.has('remedy') ? { remedy: fields.string('remedy') } : {}),
    ...(fields.has('details') ? { details: fields.object('details') } : {}),
  };
}

/** Per leaf the spans found in it, each `[rule, start, end]` on the wire. */
export function parseFirstPass(leaves: readonly unknown[]): SecretSpan[][] {
  if (leaves.length > MAX_LEAVES) throw new FrameError(`first_pass has more than ${MAX_LEAVES} leaves`);
  let total = 0;
  return leaves.map((spans) => {
    if (!Array.isArray(spans)) throw new FrameError('first_pass holds what is not a list of spans');
    total += spans.length;
    if (total > MAX_SPANS) throw new FrameError(`first_pass has more than ${MAX_SPANS} spans`);
    return spans.map(parseSpan);
  });
}

export function packFirstPass(leaves: readonly (readonly SecretSpan[])[]): [string, number, number][][] {
  return leaves.map((spans) => spans.map(({ rule, start, end }) => [rule, start, end]));
}

export function parseExecResult(fields: Fields): ExecResult {
  return {
    exit_code: fields.value('exit_code') === null ? null : fields.integer('exit_code', 0, 255),
    signal: fields.nullableString('signal'),
    ended_by: fields.oneOf('ended_by', ENDED_BY),
    stdout: fields.string('stdout'),
    stderr: fields.string('stderr'),
    dropped_bytes: fields.integer('dropped_bytes'),
    duration_ms: fields.integer('duration_ms'),
    encoding_replaced: fields.boolean('encoding_replaced'),
  };
}

/** A fault for the wire. `cause` and the stack stay here. */
export function toFailure(error: ContextdError): ToolFailure {
  return {
    code: error.code,
    message: error.message,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    ...(Object.keys(error.details).length === 0 ? {} : { details: toJsonObject(error.details) }),
  };
}

export function fromFailure({ code, message, remedy, details }: ToolFailure): ContextdError {
  return new ContextdError(code, message, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }),
  });
}

function parseStream(value: unknown): ToolStream {
  const fields = new Fields('stream', value).only('field', 'text');
  const field = fields.string('field');
  if (!FIELD_PATTERN.test(field)) throw new FrameError(`stream.field does not match ${FIELD_PATTERN}`);
  return { field, text: fields.string('text') };
}

function checkFieldNames(data: JsonObject, streams: readonly ToolStream[]): void {
  const seen = new Set(Object.keys(data));
  for (const { field } of streams) {
    if (seen.has(field)) throw new FrameError(`stream.field ${field} is taken twice`);
    seen.add(field);
  }
}

function parseSpan(value: unknown): SecretSpan {
  const [rule, start, end, ...rest]: unknown[] = Array.isArray(value) ? value : [];
  const isSpan = typeof rule === 'string' && isOffset(start) && isOffset(end) && start < end && rest.length === 0;
  if (!isSpan) throw new FrameError('first_pass holds what is not a span');
  return { rule, start, end };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

function toJsonObject(details: Readonly<Record<string, unknown>>): JsonObject {
  const copy: JsonObject = JSON.parse(JSON.stringify(details));
  return copy;
}
