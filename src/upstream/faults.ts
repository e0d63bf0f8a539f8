import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import { foreignLine } from '../text/foreign-line.ts';
import { NotReached } from './relay-fetch.ts';

/** Characters of the words of a server in a message. */
const WORDS_MAX_CHARS = 200;
/** Of a reason of the network, which may end with a remedy. */
const REASON_MAX_CHARS = 500;

/** A failure of a server, by the codes of gateway surface §3.4. */
export function upstreamFault(server: string, thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  const make = (code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}): ContextdError =>
    new ContextdError(code, `the MCP server ${server} ${message}`, {
      ...remedyOf(code, server),
      details: { server, ...details },
      cause: thrown,
    });
  const notReached = notReachedIn(thrown);
  if (notReached !== null)
    return make('UPSTREAM_UNAVAILABLE', `cannot be reached: ${wordsOf(notReached.message, REASON_MAX_CHARS)}`);
  if (thrown instanceof SdkHttpError && thrown.status !== undefined)
    return make(codeOfStatus(thrown.status), `answered with HTTP ${thrown.status}`, { status: thrown.status });
  if (thrown instanceof ProtocolError)
    return make('UPSTREAM_ERROR', `answered with an error: ${wordsOf(thrown.message)}`, { rpc_code: thrown.code });
  if (!(thrown instanceof SdkError)) return make('UPSTREAM_ERROR', `failed: ${wordsOf(String(thrown))}`);
  switch (thrown.code) {
    case SdkErrorCode.RequestTimeout:
      return make('UPSTREAM_TIMEOUT', 'did not answer in time');
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
    case SdkErrorCode.SendFailed:
      return make('UPSTREAM_UNAVAILABLE', 'closed its connection');
    default:
      return make('UPSTREAM_ERROR', `did not keep to the protocol: ${wordsOf(thrown.message)}`);
  }
}

/** The SDK wraps what its `fetch` threw, more than once. */
function notReachedIn(thrown: unknown): NotReached | null {
  if (thrown instanceof NotReached) return thrown;
  return thrown instanceof Error && thrown.cause !== undefined ? notReachedIn(thrown.cause) : null;
}

/** What a server says, as one line that is safe to show. */
export function wordsOf(text: string, maxChars = WORDS_MAX_CHARS): string {
  const line = foreignLine(text);
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401) return 'AUTH_FAILED';
  if (status === 403) return 'PERMISSION_DENIED';
  if (status === 429) return 'RATE_LIMITED';
  if (status === 408 || status === 504) return 'UPSTREAM_TIMEOUT';
  return status >= 500 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_ERROR';
}

function remedyOf(code: ErrorCode, server: string): { remedy?: string } {
  if (code === 'AUTH_FAILED' || code === 'PERMISSION_DENIED')
    return {
      remedy:
        'A person can bind a credential to its host: `ctxd network credential add --help`, then `ctxd upstream add NAME URL --header-from HOST`.',
    };
  if (code !== 'UPSTREAM_UNAVAILABLE') return {};
  return { remedy: `A person can see why with \`ctxd upstream list ${server}\`.` };
}
