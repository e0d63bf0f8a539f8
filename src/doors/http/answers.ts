import type { CallAnswer } from '../../call/request.ts';
import { type ContextdError, ERROR_TABLE, isErrorCode } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { ANSWER_HEADERS } from './hardening.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The parts of an answer that is sent at once. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function plain(body: string, type: string = JSON_TYPE, status = 200): PlainAnswer {
  return { status, body, headers: { ...ANSWER_HEADERS, 'content-type': type } };
}

export function json(value: Json): PlainAnswer {
  return plain(JSON.stringify(value));
}

/** The envelope of a call, with the status that its error has in the table of errors. */
export function callAnswer({ line }: Pick<CallAnswer, 'line'>): PlainAnswer {
  const envelope: unknown = JSON.parse(line);
  const data = isJsonObject(envelope) && isJsonObject(envelope.data) ? envelope.data : {};
  const isRefusal = isJsonObject(envelope) && envelope.success === false && isErrorCode(data.error_code);
  if (!isRefusal || !isErrorCode(data.error_code)) return plain(line);
  return withRetry(plain(line, JSON_TYPE, ERROR_TABLE[data.error_code].httpStatus), data.retry_after_ms);
}

/** A refusal that no call came of. `line` is its envelope. */
export function refusal(why: ContextdError, line: string): PlainAnswer {
  const answer = withRetry(plain(line, JSON_TYPE, ERROR_TABLE[why.code].httpStatus), why.retryAfterMs);
  if (why.code === 'AUTH_FAILED') answer.headers['www-authenticate'] = 'Bearer';
  return answer;
}

function withRetry(answer: PlainAnswer, retryAfterMs: unknown): PlainAnswer {
  if (typeof retryAfterMs === 'number') answer.headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  return answer;
}

export function toResponse({ status, headers, body }: PlainAnswer): Response {
  return new Response(body, { status, headers });
}
