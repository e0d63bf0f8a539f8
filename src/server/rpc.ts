import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
} from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { GRPC_STATUS } from '../protocol/grpc-status.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import { type Caller, callerNamed, IDENTITIES } from './identities.ts';

type Handler<Request, Response> = (request: Request, signal: AbortSignal, caller: Caller) => Promise<Response>;

/** Makes the handler of one rpc: `callers` are the only ones it serves. */
export type Route = <Request, Response>(
  callers: readonly Caller[],
  handler: Handler<Request, Response>,
) => handleUnaryCall<Request, Response>;

export interface RouteMakerDeps {
  inFlight: CallsInFlight;
  /** Takes secrets out of the text of an error before it leaves. */
  mask(text: string): string;
  logger: Logger;
}

/** What every rpc has in common: who calls, cancelling, and errors that say nothing of the inside. */
export function createRoute(deps: RouteMakerDeps): Route {
  return (callers, handler) => (call, callback) => {
    serve(call, callers, handler, deps).then(
      (response) => callback(null, response),
      (thrown: unknown) => callback(statusOf(thrown, call.getPath(), deps)),
    );
  };
}

/** What the caller is told of an error. */
export function statusOf(
  thrown: unknown,
  path: string,
  { logger, mask }: Pick<RouteMakerDeps, 'logger' | 'mask'>,
): Partial<StatusObject> {
  return toStatus(reported(thrown, path, logger), mask);
}

/** What is known of a call before it is answered, whether once or with events. */
export type ServedCall<Request> = Pick<
  ServerUnaryCall<Request, unknown>,
  'request' | 'cancelled' | 'getAuthContext' | 'getPath'
> & { once(event: 'cancelled', listener: () => void): unknown };

/** Carries out a call of one of `callers` until it is cancelled. PERMISSION_DENIED for anybody else. */
export async function serve<Request, Response>(
  call: ServedCall<Request>,
  callers: readonly Caller[],
  handler: Handler<Request, Response>,
  { inFlight }: Pick<RouteMakerDeps, 'inFlight'>,
): Promise<Response> {
  const caller = callerOf(call);
  if (caller === undefined || !callers.includes(caller)) throw notServed(call.getPath(), caller);
  return inFlight.run(
    (cancel) => (call.cancelled ? cancel() : call.once('cancelled', cancel)),
    (signal) => handler(call.request, signal, caller),
  );
}

/** Whom the verified certificate of this call's connection speaks for. */
function callerOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): Caller | undefined {
  return callerNamed(call.getAuthContext().sslPeerCertificate?.subject.CN);
}

function notServed(path: string, caller: Caller | undefined): ContextdError {
  const who = caller === undefined ? 'of no known name' : IDENTITIES[caller].commonName;
  return new ContextdError('PERMISSION_DENIED', `the certificate ${who} does not open ${path}`, {
    remedy: 'Use `ctxd`, which has a certificate of its own.',
  });
}

/** The log keeps the cause of what nobody foresaw; the caller gets a sentence. */
function reported(thrown: unknown, path: string, logger: Logger): ContextdError {
  const error = ContextdError.from(thrown);
  if (error.code === 'INTERNAL_ERROR') logger.error('rpc.failed', { rpc: path }, thrown);
  return error;
}

/** `send` gives the caller an event, or drops it where the caller does not keep up. The event returned is the last. */
type EventHandler<Request, Event> = (
  request: Request,
  signal: AbortSignal,
  caller: Caller,
  send: (event: Event) => void,
) => Promise<Event>;

/** Makes the handler of one rpc that tells of its progress: `callers` are the only ones it serves. */
export type EventRoute = <Request, Event>(
  callers: readonly Caller[],
  handler: EventHandler<Request, Event>,
) => handleServerStreamingCall<Request, Event>;

/** As `createRoute`, for an rpc with events before its answer. */
export function createEventRoute(deps: RouteMakerDeps): EventRoute {
  return (callers, handler) => (call) => {
    serve(
      call,
      callers,
      (request, signal, caller) => handler(request, signal, caller, (event) => sendOrDrop(call, event)),
      deps,
    ).then(
      (answer) => {
        call.write(answer);
        call.end();
      },
      (thrown: unknown) => call.emit('error', statusOf(thrown, call.getPath(), deps)),
    );
  };
}

/** Nothing waits for a caller that reads slowly, neither the command nor, in memory, its events. */
function sendOrDrop<Request, Event>(call: ServerWritableStream<Request, Event>, event: Event): void {
  if (call.cancelled || call.writableEnded || call.writableNeedDrain) return;
  call.write(event);
}

/** Trailers travel as headers, which peers bound, some to 16 KiB: characters of one text. */
const TEXT_MAX_CHARS = 1_000;

/** `mask` takes secrets out: an error's text may hold what a caller or a file held. */
export function toStatus(error: ContextdError, mask: (text: string) => string): Partial<StatusObject> {
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  if (error.remedy !== undefined) metadata.set(REMEDY_TRAILER, Buffer.from(presentable(error.remedy, mask)));
  return { code: GRPC_STATUS[error.code], details: presentable(error.message, mask), metadata };
}

/** Masked before it is cut, so that no half of a secret is left; without lone surrogates, since it is percent-encoded. */
function presentable(text: string, mask: (text: string) => string): string {
  try {
    return Buffer.from(mask(text).slice(0, TEXT_MAX_CHARS)).toString();
  } catch {
    return 'the text of this error is withheld, since it could not be searched for secrets';
  }
}
