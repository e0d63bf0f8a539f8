import { ContextdError, type ErrorCode, isErrorCode } from '../core/errors.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';
import type { CallOutcome } from './answer.ts';
import { APPLICATION_PROTOCOL, type Channel, SERVER_NAME } from './channel.ts';
import { attemptConnection, cancelled, certificateRejected, isAlert, notContextd } from './connect.ts';
import type { Places } from './environment.ts';
import {
  decodeExecuteEvent,
  decodeExecuteResponse,
  EXECUTE_PATH,
  EXECUTE_WITH_PROGRESS_PATH,
  type ExecuteResponse,
} from './messages.ts';
import { UnaryCall } from './unary-call.ts';

/** gRPC status UNIMPLEMENTED. */
const UNKNOWN_METHOD = 12;
const MAY_HAVE_RUN = 'It may have run: check what it was to change before you call again.';

/**
 * Sends one request and waits for its answer without a timeout: deadlines are the daemon's. The request is sent once.
 * Returns undefined if the connection was lost before anything was sent, and throws an `isStopping` error if the daemon
 * refused it: only then may the caller retry. Throws INTERRUPTED if the connection is lost later. Aborting cancels the
 * call in the daemon and throws CANCELLED. `onProgress` receives the output of a running command, if the daemon
 * supports it. Default: not requested.
 */
export async function exchange(
  channel: Channel,
  request: Buffer,
  places: Places,
  signal: AbortSignal,
  onProgress?: (text: string) => void,
): Promise<ExecuteResponse | undefined> {
  if (channel.protocol !== APPLICATION_PROTOCOL) throw notContextd(places, 'it does not speak HTTP/2');
  if (onProgress !== undefined) return exchangeWithProgress(channel, request, places, signal, onProgress);
  return ask(channel, { path: EXECUTE_PATH, message: request, decode: decodeExecuteResponse }, places, signal);
}

/** An rpc with one answer. */
export interface Rpc<T> {
  path: string;
  message: Buffer;
  /** Throws RangeError if the bytes are not the message. */
  decode(message: Buffer): T;
}

/** As `exchange`, for any rpc. `onMessage`: receives each message of an rpc with several; the last one is returned. */
export async function ask<T>(
  channel: Channel,
  { path, message, decode }: Rpc<T>,
  places: Places,
  signal: AbortSignal,
  onMessage?: (message: Buffer) => void,
): Promise<T | undefined> {
  if (channel.protocol !== APPLICATION_PROTOCOL) throw notContextd(places, 'it does not speak HTTP/2');
  const call = new UnaryCall(path, SERVER_NAME, message, onMessage);
  const outcome = await runCall(channel, call, places, signal);
  return outcome === undefined ? undefined : readOutcome(outcome, call.sent, places, decode);
}

async function exchangeWithProgress(
  channel: Channel,
  request: Buffer,
  places: Places,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<ExecuteResponse | undefined> {
  const call = new UnaryCall(EXECUTE_WITH_PROGRESS_PATH, SERVER_NAME, request, (message) => {
    const event = decodeExecuteEvent(message);
    if (event?.kind === 'progress') onProgress(event.text);
  });
  const outcome = await runCall(channel, call, places, signal);
  if (outcome === undefined) return undefined;
  if (isUnknownMethod(outcome)) return exchangeWithoutProgress(channel, request, places, signal);
  return readOutcome(outcome, call.sent, places, decodeAnswer);
}

/** True for a daemon too old for progress, which did not process the call. The daemon's own errors carry a code. */
function isUnknownMethod(outcome: CallOutcome): boolean {
  return outcome.kind === 'failed' && outcome.status === UNKNOWN_METHOD && !outcome.trailers.has(CODE_TRAILER);
}

async function exchangeWithoutProgress(
  used: Channel,
  request: Buffer,
  places: Places,
  signal: AbortSignal,
): Promise<ExecuteResponse | undefined> {
  used.end();
  const attempt = await attemptConnection(places, signal);
  return attempt.kind === 'connected' ? exchange(attempt.channel, request, places, signal) : undefined;
}

/**
 * Runs a call over a channel. Returns undefined if the connection was lost before anything was sent. Throws INTERRUPTED
 * if it was lost later, and CANCELLED if `signal` is aborted, after cancelling the call in the daemon.
 */
export function runCall(
  channel: Channel,
  call: UnaryCall,
  places: Places,
  signal: AbortSignal,
): Promise<CallOutcome | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<CallOutcome | undefined>();
  const flush = () => {
    const output = call.takeOutput();
    if (output.length > 0) channel.write(Buffer.concat(output));
  };
  const abort = () => {
    call.cancel();
    flush();
    channel.end();
    reject(cancelled());
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  flush();
  channel.listen({
    data(chunk) {
      call.receive(chunk);
      if (call.outcome === undefined) flush();
      else resolve(call.outcome);
    },
    closed(error) {
      if (error !== undefined && isAlert(error)) reject(certificateRejected(places, error.message));
      else if (call.sent) reject(interrupted('the connection to the daemon was lost', LOST));
      else resolve(undefined);
    },
  });
  return promise;
}

function readOutcome<T>(outcome: CallOutcome, sent: boolean, places: Places, decode: (message: Buffer) => T): T {
  switch (outcome.kind) {
    case 'answered':
      return readMessage(outcome.message, decode);
    case 'failed':
      throw readFault(outcome.status, outcome.message, outcome.trailers);
    case 'refused':
      throw stopping('the daemon is stopping and takes no more calls', 'Call again.');
    case 'reset':
      throw interrupted(`the daemon aborted the call (HTTP/2 error ${outcome.errorCode})`, LOST);
    case 'garbled':
      if (!sent) throw notContextd(places, outcome.reason);
      throw interrupted(`the daemon's answer cannot be read: ${outcome.reason}`);
  }
}

function readMessage<T>(message: Buffer, decode: (message: Buffer) => T): T {
  try {
    return decode(message);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw interrupted(`the daemon's answer cannot be read: ${error.message}`);
  }
}

function decodeAnswer(message: Buffer): ExecuteResponse {
  const event = decodeExecuteEvent(message);
  if (event?.kind !== 'answer') throw new RangeError('the last event is not an answer');
  return event.response;
}

function interrupted(message: string, details = {}): ContextdError {
  return new ContextdError('INTERRUPTED', message, { remedy: MAY_HAVE_RUN, details });
}

const LOST = { reason: 'lost' } as const;

/** True if the call was sent and its answer did not arrive. The next daemon knows what became of it. */
export function isLost(error: unknown): error is ContextdError {
  return error instanceof ContextdError && error.details.reason === LOST.reason;
}

/** Nothing ran, so the caller may ask the next daemon. */
function stopping(message: string, remedy: string): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', message, { remedy, details: STOPPING });
}

const STOPPING = { reason: 'stopping' } as const;

/** True if the daemon refused the call because it is stopping, so that the call did not run. */
export function isStopping(error: unknown): error is ContextdError {
  return error instanceof ContextdError && error.details.reason === STOPPING.reason;
}

/** gRPC status → error code, for calls that were sent. Any other status is INTERNAL_ERROR. */
const CODE_OF_STATUS: Readonly<Partial<Record<number, ErrorCode>>> = {
  1: 'CANCELLED',
  4: 'TIMEOUT',
  7: 'PERMISSION_DENIED',
  8: 'PAYLOAD_TOO_LARGE',
  10: 'INTERRUPTED',
  12: 'VERSION_MISMATCH',
  14: 'INTERRUPTED',
  16: 'AUTH_FAILED',
};

const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INTERRUPTED: 'It may have run: check what it was to change before you call again.',
  PAYLOAD_TOO_LARGE: 'Put large data into a file in the project and give its path in the input.',
  VERSION_MISMATCH: 'Run `ctxd server restart`, so that the daemon and the tools have the same version.',
};

/** The error described by trailers with a status other than OK. */
function readFault(status: number, message: string, trailers: ReadonlyMap<string, string>): ContextdError {
  const named = trailers.get(CODE_TRAILER);
  const code = isErrorCode(named) ? named : (CODE_OF_STATUS[status] ?? 'INTERNAL_ERROR');
  const encoded = trailers.get(REMEDY_TRAILER);
  const remedy = encoded === undefined ? REMEDIES[code] : Buffer.from(encoded, 'base64').toString('utf8');
  const sentence = message === '' ? `the daemon ended the call with gRPC status ${status}` : message;
  if (code === 'DAEMON_UNAVAILABLE') return stopping(sentence, remedy ?? 'Call again.');
  return new ContextdError(code, sentence, { remedy: remedy ?? 'See `ctxd server logs` for the cause.' });
}
