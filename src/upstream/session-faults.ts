import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import { foreignLine } from '../text/foreign-line.ts';
import { oneLine } from '../text/one-line.ts';
import { wordsOf } from './faults.ts';
import { Unsent } from './line-transport.ts';
import { NotReached } from './relay-fetch.ts';

/** Of a reason of the network, which may end with a remedy. */
const REASON_MAX_CHARS = 500;

/** A failure of a server, by the codes of gateway surface §3.4. */
export function upstreamFault(server: string, thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  const make = (
    code: ErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    remedy = remedyOf(code, server),
  ): ContextdError =>
    new ContextdError(code, `the MCP server ${server} ${message}`, {
      ...remedy,
      details: { server, ...details },
      cause: thrown,
    });
  const notReached = causeIn(thrown, (one) => one instanceof NotReached);
  if (notReached !== null)
    return make(
      'UPSTREAM_UNAVAILABLE',
      `cannot be reached: ${oneLine(foreignLine(notReached.message), REASON_MAX_CHARS)}`,
    );
  const status = statusOf(thrown);
  if (status !== null) return make(codeOfStatus(status), `answered with HTTP ${status}`, { status });
  if (thrown instanceof SseError) return make('UPSTREAM_UNAVAILABLE', 'closed its connection');
  if (thrown instanceof ProtocolError)
    return make('UPSTREAM_ERROR', `answered with an error: ${wordsOf(thrown.message)}`, { rpc_code: thrown.code });
  if (causeIn(thrown, isUnsent) !== null) return make('UPSTREAM_UNAVAILABLE', 'closed its connection');
  if (!(thrown instanceof SdkError)) return make('UPSTREAM_ERROR', `failed: ${wordsOf(String(thrown))}`);
  if (thrown.code === SdkErrorCode.InvalidResult)
    return make('UPSTREAM_ERROR', `gave a result that breaks the protocol: ${wordsOf(thrown.message)}`, {}, NO_RESULT);
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

/** The HTTP status that a request failed with; null if it had none. */
export function statusOf(thrown: unknown): number | null {
  if (thrown instanceof SdkHttpError) return thrown.status ?? null;
  return thrown instanceof SseError ? (thrown.code ?? null) : null;
}

/** True if a request certainly did not reach the process that speaks for the server, because that is gone or reads no more. */
export function wasNotSent(thrown: unknown): boolean {
  return causeIn(thrown, isUnsent) !== null;
}

/** Statuses of a proxy, or of a server that stopped waiting, after a request was passed on. */
const PASSED_ON: readonly (number | null)[] = [408, 502, 504];

/** True if a request may have reached the server, whose answer did not come back. */
export function mayHaveArrived(thrown: unknown): boolean {
  return causeIn(thrown, isLoss) !== null && !wasNotSent(thrown);
}

function isUnsent(thrown: Error): boolean {
  return thrown instanceof Unsent || (thrown instanceof SdkError && thrown.code === SdkErrorCode.NotConnected);
}

function isLoss(thrown: Error): boolean {
  if (thrown instanceof NotReached) return thrown.mayHaveArrived;
  if (PASSED_ON.includes(statusOf(thrown))) return true;
  return thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed;
}

/** The SDK wraps what its transports threw, more than once. */
function causeIn(thrown: unknown, isWanted: (one: Error) => boolean): Error | null {
  if (!(thrown instanceof Error)) return null;
  return isWanted(thrown) ? thrown : causeIn(thrown.cause, isWanted);
}

/** The same call gets the same result. */
const NO_RESULT = {
  remedy:
    'What was asked for may have been done: look before you call again. Look for another tool: `tool_browse --path /`.',
};

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
