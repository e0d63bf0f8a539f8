import { callOne, type Send, type WhenLost } from './call-one.ts';
import { socketIdentity } from './connect.ts';
import { isLost, isStopping } from './exchange.ts';
import type { DaemonSource } from './start.ts';

/**
 * Sends the call to the daemon, which is started if it does not run. If that daemon is stopping and refuses the call, sends
 * it to the next one, with a new request id, because the refusal is recorded under the first.
 */
export async function callDaemon<T>(source: DaemonSource, send: Send<T>, whenLost: WhenLost = 'fails'): Promise<T> {
  const asked = socketIdentity(source.places);
  try {
    return await callOne(source, (channel) => send(channel, source.nonce, false));
  } catch (error) {
    if (!isStopping(error) && !(isLost(error) && whenLost === 'asks again')) throw error;
    const { callNext } = await import('./call-next.ts');
    return callNext(source, send, { error, asked, whenLost });
  }
}
