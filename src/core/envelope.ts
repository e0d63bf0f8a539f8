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

/** A path that was set aside, as an answer and the audit record name it. */
export interface SetAside {
  /** Where it was, relative to the workspace (absolute outside it). Bytes that are not UTF-8 became U+FFFD. */
  readonly path: string;
  /** The eight hexadecimal digits in its new name, by which a person restores or accepts it. */
  readonly id: string;
  /** A clause that goes on after "was set aside:", such as `git on the host would run it`. */
  readonly reason: string;
}

/**
 * How much of the content an answer holds: all of it; a part, the rest behind the cursor; a condensed form; or nothing
 * but where it is kept.
 */
export type ContentFidelity = 'full' | 'partial' | 'summary' | 'reference_only';
export const FIDELITY_VERSION = '1.0';

/** The standard codes of warnings, each with its severity. */
export const WARNING_SEVERITIES = {
  CONTENT_TRUNCATED: 'info',
  STALE_CACHE: 'warning',
  PARTIAL_FAILURE: 'warning',
  DEPRECATED_FIELD: 'info',
  RATE_LIMIT_APPROACHING: 'warning',
  FALLBACK_USED: 'info',
} as const;

export type WarningCode = keyof typeof WARNING_SEVERITIES;

export interface WarningDetail {
  code: WarningCode;
  severity: (typeof WARNING_SEVERITIES)[WarningCode];
  message: string;
  context?: JsonObject;
}

/** `meta` of an answer. Optional keys are absent when empty: an agent pays for each. */
export interface EnvelopeMeta {
  version: typeof ENVELOPE_VERSION;
  request_id: string;
  /** `cursor` goes back to the same tool as `{"continuation": cursor}`. */
  pagination?: { cursor: string };
  /** Absent when full. */
  content_fidelity?: ContentFidelity;
  /** Only beside a fidelity that is not full, as the four below. */
  content_fidelity_schema_version?: typeof FIDELITY_VERSION;
  /** Texts that are cut or left out, as `<art_ id>/<key of data>`; tool_view takes them as `ref`. */
  dropped_content_ids?: readonly string[];
  /** SHA-256 of the artifact's bytes, which are its texts one after another as UTF-8: `{"art_…": "sha256:…"}`. */
  content_archive_hashes?: Readonly<Record<string, string>>;
  /** Bytes beyond `output_max` that no artifact holds. */
  dropped_bytes?: number;
  /** What was done to the text without loss of meaning before it was cut; the artifact holds it as it was. */
  densified?: readonly string[];
  /** What the asked view found: its name and a few figures. */
  view?: JsonObject;
  /** Absent when isolation is full. */
  isolation?: { level: 'reduced'; missing: readonly string[] };
  denied?: readonly Denial[];
  /** Warnings without a code; those with one stand in `warning_details` alone. */
  warnings?: readonly string[];
  warning_details?: readonly WarningDetail[];
  /** When calls are throttled. */
  rate_limit?: { limit: number; remaining: number; retry_after_ms: number };
  /** Milliseconds of the call and of its steps; only where `budget.telemetry` is set. */
  telemetry?: { duration_ms: number; run_ms?: number; scrub_ms?: number };
}

/** A warning with the severity its code has. */
export function warningDetail(code: WarningCode, message: string, context?: JsonObject): WarningDetail {
  return { code, severity: WARNING_SEVERITIES[code], message, ...(context === undefined ? {} : { context }) };
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
