import { ENVELOPE_VERSION, failureEnvelope } from '../core/envelope.ts';
import { type ContextdError, ERROR_TABLE } from '../core/errors.ts';
import type { Result } from './output.ts';

/**
 * The answer to a call that failed before, or without, the daemon's answer: the same envelope, with the true count of
 * its tokens. The table for that count is read only here, so a call that works does not pay for it.
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

/**
 * The line that states its own count: a number below 1000 is one token, a longer one is two, so the second count is
 * final. An installation without its rank file is broken; the line's bytes then stand in, which are never less.
 */
async function stateTokens(lineWith: (tokens: number) => string, rankFile: string): Promise<string> {
  try {
    const { loadCounter } = await import('../tokens/counter.ts');
    const counter = loadCounter(rankFile);
    return lineWith(counter.count(lineWith(counter.count(lineWith(0)))));
  } catch {
    return lineWith(Buffer.byteLength(lineWith(0)));
  }
}
