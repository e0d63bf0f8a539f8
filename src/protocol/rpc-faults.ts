import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { ContextdError, type ErrorCode, isErrorCode } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { CODE_TRAILER, DETAILS_TRAILER, REMEDY_TRAILER } from './trailers.ts';
import { readBoundedObject } from './wire-bounds.ts';

/** Trailers are headers, which peers limit, some to 16 KiB: the most characters of a text and bytes of the details. */
const TEXT_MAX_CHARS = 1_000;
const DETAILS_MAX_BYTES = 4_096;

/** The error code for a gRPC status without a code of ours. */
const CODE_OF_STATUS: Readonly<Partial<Record<number, ErrorCode>>> = {
  [status.CANCELLED]: 'CANCELLED',
  [status.INVALID_ARGUMENT]: 'ARGS_INVALID',
  [status.DEADLINE_EXCEEDED]: 'TIMEOUT',
  [status.NOT_FOUND]: 'NOT_FOUND',
  [status.ALREADY_EXISTS]: 'CONFLICT',
  [status.PERMISSION_DENIED]: 'PERMISSION_DENIED',
  [status.RESOURCE_EXHAUSTED]: 'PAYLOAD_TOO_LARGE',
  [status.UNIMPLEMENTED]: 'NOT_IMPLEMENTED',
  [status.UNAVAILABLE]: 'INTERRUPTED',
};

/** Encodes an error of ToolHost for a tool's process. `cause` and the stack are not sent. */
export function packHostFault(error: ContextdError): Partial<StatusObject> {
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  if (error.remedy !== undefined) metadata.set(REMEDY_TRAILER, Buffer.from(error.remedy.slice(0, TEXT_MAX_CHARS)));
  const details = Buffer.from(JSON.stringify(error.details));
  if (details.length > 2 && details.length <= DETAILS_MAX_BYTES) metadata.set(DETAILS_TRAILER, details);
  return { code: GRPC_STATUS[error.code], details: wellFormed(error.message.slice(0, TEXT_MAX_CHARS)), metadata };
}

/** Decodes the error of a failed rpc: the code in its trailers, otherwise the code for its status. */
export function readRpcFault(error: ServiceError): ContextdError {
  const named = String(error.metadata?.get(CODE_TRAILER)[0] ?? '');
  const code = isErrorCode(named) ? named : (CODE_OF_STATUS[error.code] ?? 'INTERNAL_ERROR');
  const remedy = bytesOf(error, REMEDY_TRAILER)?.toString();
  const details = detailsOf(error);
  return new ContextdError(
    code,
    error.details === '' ? `the call failed with gRPC status ${error.code}` : error.details,
    {
      ...(remedy === undefined ? {} : { remedy }),
      ...(details === undefined ? {} : { details }),
      cause: error,
    },
  );
}

function detailsOf(error: ServiceError): JsonObject | undefined {
  const bytes = bytesOf(error, DETAILS_TRAILER);
  if (bytes === undefined) return undefined;
  try {
    return readBoundedObject('details', bytes, DETAILS_MAX_BYTES);
  } catch {
    return undefined;
  }
}

function bytesOf(error: ServiceError, trailer: string): Buffer | undefined {
  const value = error.metadata?.get(trailer)[0];
  return Buffer.isBuffer(value) ? value : undefined;
}

/** Replaces lone surrogates, which gRPC fails to percent-encode. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** The gRPC status of each error code. Execute does not use it: its failed calls are answers. */
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
