import { ContextdError } from '../core/errors.ts';
import { quotedForeign } from '../text/foreign-line.ts';

/** Characters of the words of a server in a message. */
const WORDS_MAX_CHARS = 200;

/** What a server says, for a sentence. */
export function wordsOf(text: string): string {
  return quotedForeign(text, WORDS_MAX_CHARS);
}

/** The failure of a call with effects whose connection was lost: one that may not be repeated, unless `reason` says so itself. */
export function afterSending(reason: unknown): ContextdError {
  const fault = ContextdError.from(reason);
  if (fault.code !== 'UPSTREAM_UNAVAILABLE' && fault.code !== 'UPSTREAM_TIMEOUT') return fault;
  return new ContextdError('INTERRUPTED', `the call may or may not have run: ${fault.message}`, {
    remedy: 'It is not sent again. See what it did before you call once more.',
    details: fault.details,
    cause: reason,
  });
}

/** A call that waited for the start of the server as long as it could. */
export function stillStarting(server: string, waitedMs: number): ContextdError {
  return new ContextdError('UPSTREAM_TIMEOUT', `the MCP server ${server} did not start within ${waitedMs} ms`, {
    remedy: 'Call again: it goes on starting.',
    details: { server },
  });
}

/** Every new process was stale at once. */
export function keepsChanging(server: string): ContextdError {
  const message = `the project of the MCP server ${server} keeps changing on the host`;
  return new ContextdError('UPSTREAM_UNAVAILABLE', message, { remedy: 'Call again when it stays as it is.' });
}

/** Not even a ping. */
export function answersNothing(server: string): ContextdError {
  const remedy = 'It was stopped, and starts again at the next call.';
  return new ContextdError('UPSTREAM_UNAVAILABLE', `the MCP server ${server} answers nothing any more`, { remedy });
}
