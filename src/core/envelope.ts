import { type ContextdError, ERROR_TABLE, type ErrorCode } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

export const ENVELOPE_VERSION = 'response-v2';

/** A thing the sandbox refused, with the rule and the way to allow it (design §4). */
export interface Denial {
  kind: string;
  path?: string;
  host?: string;
  rule: string;
  how_to_allow: string;
}

/** `meta` of an answer. Optional keys are absent when empty: an agent pays for each. */
export interface EnvelopeMeta {
  version: typeof ENVELOPE_VERSION;
  request_id: string;
  /** `cursor` goes back to the same tool as `{"continuation": cursor}`. */
  pagination?: { cursor: string };
  /** "partial" when something was cut from this answer or dropped from the artifact. */
  content_fidelity?: 'partial';
  /** Bytes beyond `output_max` that no artifact holds. */
  dropped_bytes?: number;
  /** Absent when isolation is full. */
  isolation?: { level: 'reduced'; missing: readonly string[] };
  denied?: readonly Denial[];
  warnings?: readonly string[];
}

/** The one shape of an answer, at every door. */
export interface Envelope {
  success: boolean;
  data: JsonObject;
  error: string | null;
  refs: readonly string[];
  /** cl100k_base tokens of exactly the line printed, without its newline. */
  tokens_used: number;
  has_more: boolean;
  truncated: boolean;
  meta: EnvelopeMeta;
}

export interface SuccessParts {
  data: JsonObject;
  refs?: readonly string[];
  hasMore?: boolean;
  truncated?: boolean;
  meta: EnvelopeMeta;
}

export interface FailureParts {
  error: ContextdError;
  /** What an execution that began had already given: its stdout, stderr, ended_by. */
  data?: JsonObject;
  refs?: readonly string[];
  hasMore?: boolean;
  truncated?: boolean;
  meta: EnvelopeMeta;
}

/** `tokens_used` is 0 until the budget step counts the line. */
export function successEnvelope(parts: SuccessParts): Envelope {
  return {
    success: true,
    data: parts.data,
    error: null,
    refs: parts.refs ?? [],
    tokens_used: 0,
    has_more: parts.hasMore ?? false,
    truncated: parts.truncated ?? false,
    meta: parts.meta,
  };
}

/** `error` is one sentence with the remedy; `data` holds the same for a program (design §4). */
export function failureEnvelope(parts: FailureParts): Envelope {
  const { error } = parts;
  const entry = ERROR_TABLE[error.code];
  const data: Record<string, Json> = {
    ...parts.data,
    error_code: error.code,
    error_type: entry.type,
    retryable: entry.retryable,
    remediation: error.remedy ?? null,
    details: error.details as JsonObject,
  };
  if (error.retryAfterMs !== undefined) data.retry_after_ms = error.retryAfterMs;
  return {
    success: false,
    data,
    error: error.remedy === undefined ? error.message : `${error.message}. ${error.remedy}`,
    refs: parts.refs ?? [],
    tokens_used: 0,
    has_more: parts.hasMore ?? false,
    truncated: parts.truncated ?? false,
    meta: parts.meta,
  };
}

/** The exit code a proxy ends with for an error code; 0 for success. */
export function exitCodeOf(code: ErrorCode | undefined): number {
  return code === undefined ? 0 : ERROR_TABLE[code].exitCode;
}
