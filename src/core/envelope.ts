import { type ContextdError, ERROR_TABLE } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * The form of an answer: one line of JSON, or text. `content` is the line of JSON with the result of an MCP server as the server
 * made it, and the largest budget that the caller may have.
 */
export type AnswerForm = 'json' | 'text' | 'content';

export const ENVELOPE_VERSION = 'response-v2';

/** An access refused by the sandbox, with the rule and how to allow it (docs/isolation.md). */
export interface Denial {
  kind: string;
  path?: string;
  host?: string;
  /** Present only with a host. */
  port?: number;
  rule: string;
  how_to_allow: string;
}

/** A set-aside or reported path, as named in answers and the audit record. */
export interface SetAside {
  /** Original path, relative to the workspace (absolute if outside it). Bytes that are not UTF-8 become U+FFFD. */
  readonly path: string;
  /** Eight hexadecimal digits. A person restores or accepts the path by this id. */
  readonly id: string;
  /** Completes the sentence "was set aside: …", such as `git on the host would run it`. */
  readonly reason: string;
  /** True if the path stays where the call left it until a person judges it. Absent: it was renamed or removed. */
  readonly stays?: true;
  /** True if it was removed, because it held nothing: a pipe or a stale git lock. `id` then names nothing. */
  readonly removed?: true;
}

/**
 * How much of the content an answer holds: all of it; a part, with the rest behind the cursor; a condensed form; or
 * only a reference.
 */
export type ContentFidelity = 'full' | 'partial' | 'summary' | 'reference_only';
export const FIDELITY_VERSION = '1.0';

/** Warning codes and their severities. */
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

/** `remaining`: calls until the limit; `retry_after_ms`: when one that counts now is forgotten. */
export interface RateLimit {
  limit: number;
  remaining: number;
  retry_after_ms: number;
}

/** `meta` of an answer. Optional keys are absent if empty, because an agent pays for each key. */
export interface EnvelopeMeta {
  version: typeof ENVELOPE_VERSION;
  request_id: string;
  /** Pass `cursor` to the same tool as `{"continuation": cursor}`. */
  pagination?: {
    cursor: string;
    /** Items of the array at which `data` is cut. Absent if it is not cut in an array. */
    total_count?: number;
  };
  /** On a page of `data`: JSON path of the first value shown, such as `$.items[64]`. */
  continues_from?: string;
  /** Absent if full. */
  content_fidelity?: ContentFidelity;
  /** This key and the next four are present only if the fidelity is not full. */
  content_fidelity_schema_version?: typeof FIDELITY_VERSION;
  /** Texts that were cut or left out, as `<art_ id>/<key of data>`; tool_view takes them as `ref`. */
  dropped_content_ids?: readonly string[];
  /** SHA-256 of the artifact's bytes (its texts as UTF-8, concatenated): `{"art_…": "sha256:…"}`. */
  content_archive_hashes?: Readonly<Record<string, string>>;
  /** Bytes beyond `output_max`; no artifact holds them. */
  dropped_bytes?: number;
  /** The lines of those bytes, by key of data: `{"stdout":"12-900"}`. */
  dropped_lines?: Readonly<Record<string, string>>;
  /** Lossless changes made to the text before it was cut. The artifact holds the unchanged text. */
  densified?: readonly string[];
  /** Name of the view and a few figures about its result. */
  view?: JsonObject;
  /** Absent if isolation is full. */
  isolation?: { level: 'reduced'; missing: readonly string[] };
  denied?: readonly Denial[];
  /** Changed files: `A path`, `M path` or `D path`, at most 20. `ctxd undo` reverts them. */
  files_changed?: readonly string[];
  /** Number of changed files not listed. */
  files_changed_more?: number;
  /** Changes that undo does not cover, as `path: why`; at most 5. */
  files_not_covered?: readonly string[];
  /** Warnings without a code. Coded warnings are only in `warning_details`. */
  warnings?: readonly string[];
  warning_details?: readonly WarningDetail[];
  /** How the output came about: arguments that were repaired, an output that was kept, further attempts. */
  provenance?: { arg_repairs?: string[]; cache_hit?: true; attempts?: number };
  /** Present if a limit on calls was reached, or nearly. */
  rate_limit?: RateLimit;
  /** Milliseconds of the call and of its steps. Present only if `budget.telemetry` is set. */
  telemetry?: { duration_ms: number; run_ms?: number; scrub_ms?: number };
}

/** Messages of warnings by their code. */
export type CodedWarnings = Readonly<Record<WarningCode, readonly string[]>>;

export const WARNING_CODES = Object.keys(WARNING_SEVERITIES) as readonly WarningCode[];

/** A warning with the severity of its code. */
export function warningDetail(code: WarningCode, message: string, context?: JsonObject): WarningDetail {
  return { code, severity: WARNING_SEVERITIES[code], message, ...(context === undefined ? {} : { context }) };
}

/** The shape of every answer, at every door. */
export interface Envelope {
  success: boolean;
  data: JsonObject;
  error: string | null;
  refs: readonly string[];
  /** cl100k_base tokens of the exact line printed, without its newline. */
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
  /** Partial result, if the execution began: stdout, stderr, ended_by. */
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

/** `error` says what failed, `data.remediation` what to do; neither repeats the other: an agent pays for both. */
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
    error: error.message,
    refs: parts.refs ?? [],
    tokens_used: 0,
    has_more: parts.hasMore ?? false,
    truncated: parts.truncated ?? false,
    meta: parts.meta,
  };
}
