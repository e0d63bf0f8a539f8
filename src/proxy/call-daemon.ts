import { newRequestId } from '../core/ids.ts';
import type { Channel } from './channel.ts';
import { attemptConnection, certificateRejected, socketIdentity } from './connect.ts';
import { isStopping } from './exchange.ts';
import type { DaemonSource } from './start.ts';

/**
 * Sends a call over a connection of its own. Resolves with undefined if the connection was lost before anything was sent.
 * The request id differs from one attempt to the next if the daemon may have recorded the first.
 */
export type Send<T> = (channel: Channel, requestId: string) => Promise<T | undefined>;

/**
 * Sends the call to the daemon, which is started if it does not run. If that daemon is stopping and refuses the call, sends
 * it to the next one, with a new request id, because the refusal is recorded under the first.
 */
export async function callDaemon<T>(source: DaemonSource, send: Send<T>): Promise<T> {
  const asked = socketIdentity(source.places);
  try {
    return await callOne(source, (channel) => send(channel, source.nonce));
  } catch (error) {
    if (!isStopping(error)) throw error;
    const { awaitEnd } = await import('./start.ts');
    if (!(await awaitEnd(source, asked))) throw error;
    const requestId = newRequestId(Date.now());
    return callOne(source, (channel) => send(channel, requestId));
  }
}

/**
 * Retries once: a daemon that closes the connection before anything was sent may be stopping, and the second attempt
 * finds or starts another.
 */
async function callOne<T>(source: DaemonSource, send: (channel: Channel) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 2; tries++) {
    const response = await send(await reachDaemon(source));
    if (response !== undefined) return response;
  }
  throw certificateRejected(source.places, 'it closes the connection');
}

/** The code that starts a daemon is rarely needed, so it is loaded only if no daemon answers. */
async function reachDaemon(source: DaemonSource): Promise<Channel> {
  const attempt = await attemptConnection(source.places, source.signal);
  if (attempt.kind === 'connected') return attempt.channel;
  const { startAndReach } = await import('./start.ts');
  return startAndReach(source);
}
