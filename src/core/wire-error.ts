import { ContextdError, type ErrorCode, isErrorCode } from './errors.ts';
import type { JsonObject } from './json.ts';

/** An error as it crosses a border between processes or threads. It never leaves the machine. */
export interface WireError {
  code: ErrorCode;
  message: string;
  remedy: string | null;
  details: JsonObject;
  /** For the log. */
  cause: string | null;
}

/** Anything that was thrown, to be sent to another process or thread of contextd. */
export function packError(thrown: unknown): WireError {
  const error = ContextdError.from(thrown);
  const details: JsonObject = JSON.parse(JSON.stringify(error.details));
  const cause = error === thrown ? error.cause : thrown;
  return {
    code: error.code,
    message: error.message,
    remedy: error.remedy ?? null,
    details,
    cause: cause === undefined ? null : String(cause instanceof Error ? (cause.stack ?? cause) : cause),
  };
}

/** The error that `packError` packed. An unknown code becomes INTERNAL_ERROR. */
export function unpackError({ code, message, remedy, details, cause }: WireError): ContextdError {
  return new ContextdError(isErrorCode(code) ? code : 'INTERNAL_ERROR', message, {
    ...(remedy === null ? {} : { remedy }),
    details,
    ...(cause === null ? {} : { cause: new Error(cause) }),
  });
}
