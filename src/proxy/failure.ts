import { ENVELOPE_VERSION, failureEnvelope } from '../core/envelope.ts';
import { type ContextdError, ERROR_TABLE } from '../core/errors.ts';
import { stateTokens } from './count-line.ts';
import type { Result } from './output.ts';

/**
 * The answer to a call that failed before, or without, the daemon's answer: the same envelope, with the true count of
 * its tokens.
 */
export async function renderFailure(error: ContextdError, requestId: string, rankFile: string): Promise<Result> {
  const meta = { version: ENVELOPE_VERSION, request_id: requestId } as const;
  const envelope = failureEnvelope({ error, meta });
  const line = await stateTokens((tokens) => JSON.stringify({ ...envelope, tokens_used: tokens }), rankFile);
  const remedy = error.remedy === undefined ? '' : `. ${error.remedy}`;
  return {
    stdout: Buffer.from(`${line}\n`),
    stderr: `${error.code}: ${error.message}${remedy}`,
    exitCode: ERROR_TABLE[error.code].exitCode,
  };
}
