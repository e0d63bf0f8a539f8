/**
 * The closed table of error codes. Every door renders faults from this table only. A test compares it with
 * `docs/errors.md`.
 */
export const ERROR_TABLE = {
  ARGS_INVALID: { type: 'validation', retryable: false, exitCode: 2, httpStatus: 400 },
  PATH_INVALID: { type: 'validation', retryable: false, exitCode: 2, httpStatus: 400 },
  CURSOR_INVALID: { type: 'validation', retryable: false, exitCode: 2, httpStatus: 400 },
  SECRET_UNKNOWN: { type: 'validation', retryable: false, exitCode: 2, httpStatus: 400 },
  PAYLOAD_TOO_LARGE: { type: 'validation', retryable: false, exitCode: 2, httpStatus: 413 },
  SCHEMA_INVALID: { type: 'validation', retryable: false, exitCode: 1, httpStatus: 422 },
  TOOL_NOT_FOUND: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 404 },
  PATH_NOT_FOUND: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 404 },
  NOT_FOUND: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 404 },
  RESOURCE_NOT_FOUND: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 404 },
  PROMPT_NOT_FOUND: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 404 },
  EXPIRED: { type: 'not_found', retryable: false, exitCode: 1, httpStatus: 410 },
  CONFLICT: { type: 'conflict', retryable: false, exitCode: 1, httpStatus: 409 },
  VERSION_MISMATCH: { type: 'conflict', retryable: false, exitCode: 1, httpStatus: 409 },
  AUTH_FAILED: { type: 'authentication', retryable: false, exitCode: 3, httpStatus: 401 },
  PERMISSION_DENIED: { type: 'authorization', retryable: false, exitCode: 3, httpStatus: 403 },
  INTEGRITY_FAILED: { type: 'authorization', retryable: false, exitCode: 4, httpStatus: 403 },
  RATE_LIMITED: { type: 'rate_limit', retryable: true, exitCode: 75, httpStatus: 429 },
  TIMEOUT: { type: 'unavailable', retryable: true, exitCode: 124, httpStatus: 504 },
  CANCELLED: { type: 'unavailable', retryable: true, exitCode: 130, httpStatus: 499 },
  RESOURCE_LIMIT: { type: 'internal', retryable: false, exitCode: 1, httpStatus: 500 },
  TOOL_CRASHED: { type: 'internal', retryable: false, exitCode: 1, httpStatus: 500 },
  VIEW_FAILED: { type: 'internal', retryable: false, exitCode: 1, httpStatus: 500 },
  HYDRATE_FAILED: { type: 'internal', retryable: false, exitCode: 1, httpStatus: 500 },
  INTERRUPTED: { type: 'unavailable', retryable: false, exitCode: 1, httpStatus: 503 },
  SANDBOX_UNAVAILABLE: { type: 'unavailable', retryable: false, exitCode: 71, httpStatus: 503 },
  DAEMON_UNAVAILABLE: { type: 'unavailable', retryable: true, exitCode: 69, httpStatus: 503 },
  STORAGE_FULL: { type: 'unavailable', retryable: true, exitCode: 74, httpStatus: 507 },
  SCRUB_FAILED: { type: 'internal', retryable: true, exitCode: 70, httpStatus: 500 },
  AUDIT_FAILED: { type: 'internal', retryable: true, exitCode: 70, httpStatus: 500 },
  INTERNAL_ERROR: { type: 'internal', retryable: true, exitCode: 70, httpStatus: 500 },
  NOT_IMPLEMENTED: { type: 'feature_flag', retryable: false, exitCode: 1, httpStatus: 501 },
  UPSTREAM_ERROR: { type: 'unavailable', retryable: false, exitCode: 1, httpStatus: 502 },
  UPSTREAM_TIMEOUT: { type: 'unavailable', retryable: true, exitCode: 1, httpStatus: 502 },
  UPSTREAM_UNAVAILABLE: { type: 'unavailable', retryable: true, exitCode: 1, httpStatus: 502 },
} as const;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Checks a value from another process against the table. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code);
}

export interface ErrorOptions {
  /** What the caller can do, as a sentence. */
  remedy?: string;
  /** Facts for a program, such as the JSON pointer, the limit, the size. Scrubbed like everything that leaves. */
  details?: Readonly<Record<string, unknown>>;
  /** A token that the message names, such as `[SECRET_3]`. Shown unchanged, because contextd wrote it. */
  token?: string;
  /** Milliseconds to wait before a retry. */
  retryAfterMs?: number;
  /** Kept for the log, never sent. */
  cause?: unknown;
}

/** The only error class that crosses rooms. `message` is a sentence with the failure and the value. */
export class ContextdError extends Error {
  override readonly name = 'ContextdError';
  readonly code: ErrorCode;
  readonly remedy: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = options.remedy;
    this.details = options.details ?? {};
    this.token = options.token;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Converts anything thrown. An unknown error becomes INTERNAL_ERROR, which never blames the caller. */
  static from(thrown: unknown): ContextdError {
    if (thrown instanceof ContextdError) return thrown;
    if (isErrno(thrown, 'ENOSPC', 'EDQUOT')) {
      return new ContextdError(
        'STORAGE_FULL',
        `the disk is full (${thrown.code}${thrown.path ? ` at ${thrown.path}` : ''})`,
        {
          remedy: 'Free disk space and call again.',
          cause: thrown,
        },
      );
    }
    return new ContextdError('INTERNAL_ERROR', 'contextd failed to carry out the call', {
      remedy: 'See `ctxd server logs` for the cause.',
      cause: thrown,
    });
  }
}

/** The message of an error, followed by its remedy. */
export function withRemedy({ message, remedy }: { message: string; remedy?: string | undefined }): string {
  if (remedy === undefined) return message;
  return /[.?!]$/.test(message) ? `${message} ${remedy}` : `${message}. ${remedy}`;
}

/** True for a system error with one of the given codes, or with any code if none is given. */
export function isErrno(thrown: unknown, ...codes: string[]): thrown is NodeJS.ErrnoException {
  if (!(thrown instanceof Error) || thrown instanceof ContextdError) return false;
  if (!('code' in thrown) || typeof thrown.code !== 'string') return false;
  return codes.length === 0 || codes.includes(thrown.code);
}

/** The error without the secrets in its texts: it may quote its caller. */
export function maskedError(why: ContextdError, mask: (text: string) => string): ContextdError {
  const { code, message, remedy, retryAfterMs } = why;
  return new ContextdError(code, mask(message), {
    ...(remedy === undefined ? {} : { remedy: mask(remedy) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
