import {
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';

/**
 * Ends a call whose request is not complete within `requestMs`: until then no handler knows of it. `onLate` is called in
 * the context of the connection: gRPC can answer such a call, but not take its stream from a peer that keeps it open.
 */
export function createRequestDeadline(requestMs: number, onLate: () => void): ServerInterceptor {
  return (_method, call) => {
    const late = setTimeout(() => {
      call.sendStatus({
        code: status.DEADLINE_EXCEEDED,
        details: `the request was not complete within ${requestMs} ms`,
      });
      onLate();
    }, requestMs).unref();
    const listener = new ServerListenerBuilder()
      .withOnReceiveHalfClose((next) => {
        clearTimeout(late);
        next();
      })
      .withOnCancel(() => clearTimeout(late))
      .build();
    const responder = new ResponderBuilder().withStart((next) => next(listener)).build();
    return new ServerInterceptingCall(call, responder);
  };
}
