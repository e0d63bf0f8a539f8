import { ContextdError } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import { callOne, type Send, type WhenLost } from './call-one.ts';
import { socketIdentity } from './connect.ts';
import { isLost, isStopping } from './exchange.ts';
import { awaitEnd, type DaemonSource } from './start.ts';

/** Daemons that one call may outlive, and end: a call that crashes each must not go on to the next one for ever. */
const DAEMONS_MAX = 6;

/** How the daemon before ended the call. */
interface Before {
  readonly error: ContextdError;
  /** Of the socket that it was sent to. */
  readonly asked: string;
  readonly whenLost: WhenLost;
}

/**
 * Goes on with a call that its daemon did not answer. One that was refused is sent to the next daemon. One whose connection was
 * lost may have run: the next daemon is asked for its answer. Throws the error of the loss if none can be asked.
 */
export async function callNext<T>(source: DaemonSource, send: Send<T>, { error, asked, whenLost }: Before): Promise<T> {
  let [last, socket, requestId] = [error, asked, source.nonce];
  let lost: ContextdError | undefined;
  for (let daemons = 1; daemons < DAEMONS_MAX; daemons++) {
    if (isLost(last)) lost ??= last;
    else if (!(await awaitEnd(source, socket))) break;
    // A refusal is on record under the id, but the answer of a lost call is found only by its own.
    if (lost === undefined) requestId = newRequestId(Date.now());
    socket = socketIdentity(source.places);
    const isAskedAgain = lost !== undefined;
    try {
      return await callOne(source, (channel) => send(channel, requestId, isAskedAgain));
    } catch (thrown) {
      if (!isStopping(thrown) && !(isLost(thrown) && whenLost === 'asks again')) {
        if (lost === undefined || source.signal.aborted) throw thrown;
        throw notAsked(lost, thrown);
      }
      last = thrown;
    }
  }
  throw lost ?? last;
}

/** The call may have run, whatever kept the next daemon from saying so. */
function notAsked({ message, remedy }: ContextdError, thrown: unknown): ContextdError {
  const why = ContextdError.from(thrown).message;
  return new ContextdError('INTERRUPTED', `${message}, and the next one could not be asked for the answer: ${why}`, {
    ...(remedy === undefined ? {} : { remedy }),
    cause: thrown,
  });
}
