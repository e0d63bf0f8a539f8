import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';
import type { CallOutcome } from './answer.ts';
import { APPLICATION_PROTOCOL, type Channel, SERVER_NAME } from './channel.ts';
import { attemptConnection, cancelled, foreign, isAlert, turnedDown } from './connect.ts';
import type { Places } from './environment.ts';
import {
  decodeExecuteEvent,
  decodeExecuteResponse,
  EXECUTE_PATH,
  EXECUTE_WITH_PROGRESS_PATH,
  type ExecuteResponse,
} from './messages.ts';
import { UnaryCall } from './unary-call.ts';

/** gRPC's UNIMPLEMENTED. */
const UNKNOWN_METHOD = 12;
const MAY_HAVE_RUN = 'It may have run: look at what it was to change before you call again.';

/**
 * Sends one request and waits for its answer, however long that takes: deadlines are the daemon's. It sends once; a
 * connection lost afterwards is INTERRUPTED. Undefined when it was lost before anything was sent: then, and only
 * then, another try is allowed. Aborting tells the daemon to give the call up and throws CANCELLED.
 * `onProgress`: told what a command prints while it runs, where the daemon can tell. Default: it is not asked.
 */
export async function exchange(
  channel: Channel,
  request: Buffer,
  places: Places,
  signal: AbortSignal,
  onProgress?: (text: string) => void,
): Promise<ExecuteResponse | undefined> {
  if (channel.protocol !== APPLICATION_PROTOCOL) throw foreign(places, 'it does not speak HTTP/2');
  if (onProgress !== undefined) return exchangeWithProgress(channel, request, places, signal, onProgress);
  const call = new UnaryCall(EXECUTE_PATH, SERVER_NAME, request);
  const outcome = await carry(channel, call, places, signal);
  return outcome === undefined ? undefined : readOutcome(outcome, call.sent, places, decodeExecuteResponse);
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
  const outcome = await carry(channel, call, places, signal);
  if (outcome === undefined) return undefined;
  if (isUnknownMethod(outcome)) return exchangeAnew(channel, request, places, signal);
  return readOutcome(outcome, call.sent, places, decodeAnswer);
}

/** A daemon from before there was progress: it did not look at the call. An error of ours names its code. */
function isUnknownMethod(outcome: CallOutcome): boolean {
  return outcome.kind === 'failed' && outcome.status === UNKNOWN_METHOD && !outcome.trailers.has(CODE_TRAILER);
}

async function exchangeAnew(
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
 * Undefined when the connection was lost before anything was sent. Throws INTERRUPTED when it was lost afterwards, and
 * CANCELLED, having told the daemon, when `signal` is aborted.
 */
export function carry(
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
      if (error !== undefined && isAlert(error)) reject(turnedDown(places, error.message));
      else if (call.sent) reject(interrupted('the connection to the daemon was lost'));
      else resolve(undefined);
    },
  });
  return promise;
}

function readOutcome(
  outcome: CallOutcome,
  sent: boolean,
  places: Places,
  decode: (message: Buffer) => ExecuteResponse,
): ExecuteResponse {
  switch (outcome.kind) {
    case 'answered':
      return readMessage(outcome.message, decode);
    case 'failed':
      throw readFault(outcome.status, outcome.message, outcome.trailers);
    case 'refused':
      throw new ContextdError('DAEMON_UNAVAILABLE', 'the daemon is stopping and took no more calls', {
        remedy: 'Call again.',
      });
    case 'reset':
      throw interrupted(`the daemon gave the call up (HTTP/2 error ${outcome.errorCode})`);
    case 'garbled':
      if (!sent) throw foreign(places, outcome.reason);
      throw interrupted(`the daemon's answer cannot be read: ${outcome.reason}`);
  }
}

function readMessage(message: Buffer, decode: (message: Buffer) => ExecuteResponse): ExecuteResponse {
  try {
    return decode(message);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw interrupted(`the daemon's answer cannot be read: ${error.message}`);
  }
}

function decodeAnswer(message: Buffer): ExecuteResponse {
  const event = decodeExecuteEvent(message);
  if (event?.kind !== 'answer') throw new RangeError('the last event is no answer');
  return event.response;
}

function interrupted(message: string): ContextdError {
  return new ContextdError('INTERRUPTED', message, { remedy: MAY_HAVE_RUN });
}

/** What a gRPC status means for a call that was sent. Those that are not named are INTERNAL_ERROR. */
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
  INTERRUPTED: 'It may have run: look at what it was to change before you call again.',
  PAYLOAD_TOO_LARGE: 'Give large data as a file in the project and its path in the input.',
  VERSION_MISMATCH: 'Run `ctxd server restart`, so that daemon and tools are of one version.',
};

/** The error that trailers with a status other than OK stand for. */
export function readFault(status: number, message: string, trailers: ReadonlyMap<string, string>): ContextdError {
  const named = trailers.get(CODE_TRAILER);
  const code = isErrorCode(named) ? named : (CODE_OF_STATUS[status] ?? 'INTERNAL_ERROR');
  const sent = trailers.get(REMEDY_TRAILER);
  const remedy = sent === undefined ? REMEDIES[code] : Buffer.from(sent, 'base64').toString('utf8');
  const sentence = message === '' ? `the daemon ended the call with gRPC status ${status}` : message;
  return new ContextdError(code, sentence, { remedy: remedy ?? 'See `ctxd server logs` for the cause.' });
}

function isErrorCode(name: string | undefined): name is ErrorCode {
  return name !== undefined && Object.hasOwn(ERROR_TABLE, name);
}
