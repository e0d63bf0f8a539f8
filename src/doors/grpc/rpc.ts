import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerUnaryCall,
  type StatusObject,
} from '@grpc/grpc-js';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { GRPC_STATUS } from '../../protocol/rpc-faults.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../../protocol/trailers.ts';
import type { CallsInFlight } from '../calls-in-flight.ts';
import { EventSender, type Send } from './event-sender.ts';
import { type Caller, callerNamed, IDENTITIES } from './identities.ts';

type Handler<Request, Response> = (request: Request, signal: AbortSignal, caller: Caller) => Promise<Response>;

/** Creates the handler of one rpc, for `callers` only. */
export type Route = <Request, Response>(
  callers: readonly Caller[],
  handler: Handler<Request, Response>,
) => handleUnaryCall<Request, Response>;

export interface RouteMakerDeps {
  inFlight: CallsInFlight;
  /** Masks secrets in the text of an error before it leaves. */
  mask(text: string): string;
  logger: Logger;
}

/** Provides what every rpc needs: the caller, cancellation, and errors that reveal no internals. */
export function createRoute(deps: RouteMakerDeps): Route {
  return (callers, handler) => (call, callback) => {
    serve(call, callers, handler, deps).then(
      (response) => callback(null, response),
      (thrown: unknown) => callback(statusOf(thrown, call.getPath(), deps)),
    );
  };
}

/** The status of an error, as sent to the caller. */
export function statusOf(
  thrown: unknown,
  path: string,
  { logger, mask }: Pick<RouteMakerDeps, 'logger' | 'mask'>,
): Partial<StatusObject> {
  return toStatus(loggedError(thrown, path, logger), mask);
}

/** The common parts of unary calls and calls with events. */
export type ServedCall<Request> = Pick<
  ServerUnaryCall<Request, unknown>,
  'request' | 'cancelled' | 'getAuthContext' | 'getPath'
> & { once(event: 'cancelled', listener: () => void): unknown };

/** Runs a call from one of `callers` until it is cancelled. Throws PERMISSION_DENIED for any other caller. */
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

/** The caller named by the connection's verified certificate. */
function callerOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): Caller | undefined {
  return callerNamed(call.getAuthContext().sslPeerCertificate?.subject.CN);
}

function notServed(path: string, caller: Caller | undefined): ContextdError {
  const who = caller === undefined ? 'with an unknown name' : IDENTITIES[caller].commonName;
  return new ContextdError('PERMISSION_DENIED', `the certificate ${who} may not call ${path}`, {
    remedy: 'Use `ctxd`, which has its own certificate.',
  });
}

/** Logs the cause of an unexpected error. The caller gets only a sentence. */
function loggedError(thrown: unknown, path: string, logger: Logger): ContextdError {
  const error = ContextdError.from(thrown);
  if (error.code === 'INTERNAL_ERROR') logger.error('rpc.failed', { rpc: path }, thrown);
  return error;
}

/**
 * `send` sends an event, or drops it if the caller is too slow and another event will follow. The returned event is the
 * last one.
 */
type EventHandler<Request, Event> = (
  request: Request,
  signal: AbortSignal,
  caller: Caller,
  send: Send<Event>,
) => Promise<Event>;

/** Creates the handler of one rpc with progress events, for `callers` only. */
export type EventRoute = <Request, Event>(
  callers: readonly Caller[],
  handler: EventHandler<Request, Event>,
) => handleServerStreamingCall<Request, Event>;

/** Like `createRoute`, for an rpc that sends events before its answer. */
export function createEventRoute(deps: RouteMakerDeps): EventRoute {
  return (callers, handler) => (call) => {
    const { send, overflow } = new EventSender(call);
    serve(
      call,
      callers,
      (request, signal, caller) =>
        handler(request, AbortSignal.any([signal, overflow]), caller, send).finally(() => overflow.throwIfAborted()),
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

/** Maximum characters of one text. Trailers are headers, which some peers limit to 16 KiB. */
const TEXT_MAX_CHARS = 1_000;

/** `mask` removes secrets, because an error may quote a caller or a file. */
export function toStatus(error: ContextdError, mask: (text: string) => string): Partial<StatusObject> {
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  if (error.remedy !== undefined) metadata.set(REMEDY_TRAILER, Buffer.from(headerText(error.remedy, mask)));
  return { code: GRPC_STATUS[error.code], details: headerText(error.message, mask), metadata };
}

/**
 * Masks before truncating, so that no part of a secret remains. Removes lone surrogates, which cannot be
 * percent-encoded.
 */
function headerText(text: string, mask: (text: string) => string): string {
  try {
    return Buffer.from(mask(text).slice(0, TEXT_MAX_CHARS)).toString();
  } catch {
    return 'the text of this error is withheld, because it could not be searched for secrets';
  }
}
