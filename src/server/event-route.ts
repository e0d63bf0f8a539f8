import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js';
import type { Caller } from './identities.ts';
import { type RouteMakerDeps, serve, statusOf } from './unary.ts';

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
