import { ENVELOPE_VERSION, type Envelope, failureEnvelope, successEnvelope } from '../core/envelope.ts';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { stateTokens } from './count-line.ts';
import type { ToolLink } from './link.ts';
import { checkOut, writeOut } from './out-file.ts';
import { locateOut } from './out-place.ts';
import type { Result } from './output.ts';

/** Of a call that succeeded and whose answer could not be written: it ran, so no code that says it did not. */
const NOT_KEPT = 74;

export interface Keeping {
  /** The file, as the caller wrote it. */
  out: string;
  link: ToolLink;
  requestId: string;
  /** For the count of the short line. */
  rankFile: string;
}

/**
 * Puts the line that `run` answers with into a file, and a short one on stdout in its place, with the same exit code
 * and stderr. Throws before `run` what can be known before: a command is not run for an answer that would be lost.
 * Where the file cannot be written after all, the whole line stays on stdout, stderr says why, and a call that
 * succeeded ends with 74.
 */
export async function keepAnswer(keeping: Keeping, run: () => Promise<Result>): Promise<Result> {
  const { out, link, requestId, rankFile } = keeping;
  const place = locateOut(out, link);
  checkOut(place);
  const result = await run();
  try {
    writeOut(place, result.stdout, requestId);
  } catch (error) {
    return notKept(result, ContextdError.from(error));
  }
  const envelope = shortEnvelope(readAnswer(result.stdout), out, result, requestId);
  const line = await stateTokens((tokens) => JSON.stringify({ ...envelope, tokens_used: tokens }), rankFile);
  return { ...result, stdout: Buffer.from(`${line}\n`) };
}

function notKept(result: Result, { code, message, remedy }: ContextdError): Result {
  const own = result.stderr === '' ? '' : `${result.stderr}; `;
  return {
    stdout: result.stdout,
    stderr: `${own}${code}: ${message}. The call has run and its whole answer is on stdout. ${remedy ?? ''}`,
    exitCode: result.exitCode === 0 ? NOT_KEPT : result.exitCode,
  };
}

function readAnswer(line: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function shortEnvelope(answer: JsonObject, out: string, result: Result, requestId: string): Envelope {
  const real = objectOf(answer.data);
  const data: Record<string, Json> = { out, bytes: result.stdout.length };
  if (real.exit_code !== undefined) data.exit_code = real.exit_code;
  const told = objectOf(answer.meta).request_id;
  const parts = {
    data,
    refs: Array.isArray(answer.refs) ? answer.refs.filter((ref) => typeof ref === 'string') : [],
    hasMore: answer.has_more === true,
    truncated: answer.truncated === true,
    meta: { version: ENVELOPE_VERSION, request_id: typeof told === 'string' ? told : requestId },
  } as const;
  return answer.success === true ? successEnvelope(parts) : failureEnvelope({ ...parts, error: errorOf(answer, real) });
}

/** The error the daemon told, taken apart again into sentence and remedy. */
function errorOf(answer: JsonObject, data: JsonObject): ContextdError {
  const code = isErrorCode(data.error_code) ? data.error_code : 'INTERNAL_ERROR';
  const remedy = typeof data.remediation === 'string' ? data.remediation : undefined;
  const sentence = typeof answer.error === 'string' ? answer.error : 'the call failed';
  const ending = `. ${remedy}`;
  const { retry_after_ms: retryAfterMs } = data;
  return new ContextdError(code, sentence.endsWith(ending) ? sentence.slice(0, -ending.length) : sentence, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    details: objectOf(data.details),
  });
}

function isErrorCode(code: Json | undefined): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code);
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
