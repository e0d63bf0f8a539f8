import type { Channel } from './channel.ts';
import { attemptConnection, certificateRejected } from './connect.ts';
import type { DaemonSource } from './start.ts';

/**
 * Sends a call over a connection of its own. Resolves with undefined if the connection was lost before anything was sent.
 * The request id differs from one attempt to the next if the daemon refused the first and recorded that. `isAskedAgain`: the
 * call was sent and its connection was lost, so this asks for its answer.
 */
export type Send<T> = (channel: Channel, requestId: string, isAskedAgain: boolean) => Promise<T | undefined>;

/** What follows if the connection is lost after the call was sent: the next daemon is asked for the answer, or INTERRUPTED. */
export type WhenLost = 'asks again' | 'fails';

/**
 * Retries once: a daemon that closes the connection before anything was sent may be stopping, and the second attempt
 * finds or starts another.
 */
export async function callOne<T>(source: DaemonSource, send: (channel: Channel) => Promise<T | undefined>): Promise<T> {
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
