import type { handleUnaryCall, ServerUnaryCall, StatusObject } from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import { type Caller, IDENTITIES } from './identities.ts';
import { callerOf } from './mtls.ts';
import { toStatus } from './wire-errors.ts';

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
