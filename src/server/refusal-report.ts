import type { CallRequest } from '../call/request.ts';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { RefusalReport__Output } from '../protocol/generated/contextd/v1/RefusalReport.ts';
import { receiveCall } from './call-request.ts';
import type { Caller } from './identities.ts';

/** A call that the proxy refused, and the error it answered with. */
export interface ReportedRefusal {
  request: CallRequest;
  why: ContextdError;
}

/** The report is a program's word: only its shape is checked. ARGS_INVALID for a code that is not of docs/errors.md. */
export function receiveRefusal(
  wire: RefusalReport__Output,
  signal: AbortSignal,
  client: Caller,
  nowMs: number,
): ReportedRefusal {
  const code = wire.error_code;
  if (wire.call === null || !isErrorCode(code)) {
    throw new ContextdError('ARGS_INVALID', 'the report names no call, or no error code of docs/errors.md', {
      remedy: 'Run ./install.sh again: proxy and daemon are of different versions.',
    });
  }
  const { request } = receiveCall(wire.call, signal, client, nowMs);
  const why = new ContextdError(code, wire.message, {
    ...(wire.remedy === '' ? {} : { remedy: wire.remedy }),
    details: detailsOf(wire.details_json),
  });
  return { request: { ...request, principal: { door: 'proxy', client } }, why };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

function detailsOf(json: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
