import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { ContextdError, ErrorCode } from '../core/errors.ts';

/** How each code looks on those rpcs that fail. Execute does not: there a failed call is an answer. */
export const GRPC_STATUS = {
  ARGS_INVALID: status.INVALID_ARGUMENT,
  PATH_INVALID: status.INVALID_ARGUMENT,
  CURSOR_INVALID: status.INVALID_ARGUMENT,
  SECRET_UNKNOWN: status.INVALID_ARGUMENT,
  PAYLOAD_TOO_LARGE: status.RESOURCE_EXHAUSTED,
  SCHEMA_INVALID: status.FAILED_PRECONDITION,
  TOOL_NOT_FOUND: status.NOT_FOUND,
  PATH_NOT_FOUND: status.NOT_FOUND,
  NOT_FOUND: status.NOT_FOUND,
  RESOURCE_NOT_FOUND: status.NOT_FOUND,
  PROMPT_NOT_FOUND: status.NOT_FOUND,
  EXPIRED: status.NOT_FOUND,
  CONFLICT: status.ALREADY_EXISTS,
  VERSION_MISMATCH: status.FAILED_PRECONDITION,
  AUTH_FAILED: status.UNAUTHENTICATED,
  PERMISSION_DENIED: status.PERMISSION_DENIED,
  INTEGRITY_FAILED: status.DATA_LOSS,
  RATE_LIMITED: status.RESOURCE_EXHAUSTED,
  TIMEOUT: status.DEADLINE_EXCEEDED,
  CANCELLED: status.CANCELLED,
  RESOURCE_LIMIT: status.RESOURCE_EXHAUSTED,
  TOOL_CRASHED: status.INTERNAL,
  VIEW_FAILED: status.INTERNAL,
  HYDRATE_FAILED: status.INTERNAL,
  INTERRUPTED: status.ABORTED,
  SANDBOX_UNAVAILABLE: status.FAILED_PRECONDITION,
  DAEMON_UNAVAILABLE: status.UNAVAILABLE,
  STORAGE_FULL: status.RESOURCE_EXHAUSTED,
  SCRUB_FAILED: status.INTERNAL,
  AUDIT_FAILED: status.INTERNAL,
  INTERNAL_ERROR: status.INTERNAL,
  NOT_IMPLEMENTED: status.UNIMPLEMENTED,
  UPSTREAM_ERROR: status.UNAVAILABLE,
  UPSTREAM_TIMEOUT: status.UNAVAILABLE,
  UPSTREAM_UNAVAILABLE: status.UNAVAILABLE,
} as const satisfies Record<ErrorCode, status>;

/** The trailers that carry the code and the remedy of a ContextdError, so that a client can make it again. */
export const CODE_TRAILER = 'contextd-code';
export const REMEDY_TRAILER = 'contextd-remedy-bin';

/** Trailers travel as headers, which peers bound, some to 16 KiB: characters of one text. */
const TEXT_MAX_CHARS = 1_000;

/** `mask` takes secrets out: an error's text may hold what a caller or a file held. */
export function toStatus(error: ContextdError, mask: (text: string) => string): Partial<StatusObject> {
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  if (error.remedy !== undefined) metadata.set(REMEDY_TRAILER, Buffer.from(presentable(error.remedy, mask)));
  return { code: GRPC_STATUS[error.code], details: presentable(error.message, mask), metadata };
}

/** Masked before it is cut, so that no half of a secret is left; without lone surrogates, since it is percent-encoded. */
function presentable(text: string, mask: (text: string) => string): string {
  try {
    return Buffer.from(mask(text).slice(0, TEXT_MAX_CHARS)).toString();
  } catch {
    return 'the text of this error is withheld, since it could not be searched for secrets';
  }
}
