import type { Channel } from './channel.ts';
import { attemptConnection } from './connect.ts';
import type { Places } from './places.ts';

export interface DaemonSource {
  places: Places;
  launcher: string;
  environment: Record<string, string>;
  /** Names this process's lock; random. */
  nonce: string;
  signal: AbortSignal;
}

/**
 * A connection to the daemon. If none runs, exactly one of all the proxies that find this starts one and the others
 * wait for it. Throws DAEMON_UNAVAILABLE when none comes up in time.
 */
export async function reachDaemon(source: DaemonSource): Promise<Channel> {
  const attempt = await attemptConnection(source.places, source.signal);
  if (attempt.kind === 'connected') return attempt.channel;
  const { startAndReach } = await import('./start.ts');
  return startAndReach(source);
}
