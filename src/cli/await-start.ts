import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Paths } from '../config/paths.ts';
import { isBeingReplaced } from '../proxy/start-lock.ts';

const POLL_MS = 20;

/**
 * Waits while no daemon accepts connections and one has itself replaced. That takes no longer than its lock is valid, about 30 seconds.
 * A program that starts a daemon is not waited for: `ctxd mcp serve` starts it through `ctxd server start`.
 */
export async function awaitStart({ socket, startLock }: Pick<Paths, 'socket' | 'startLock'>): Promise<void> {
  while (isBeingReplaced(startLock) && !(await accepts(socket))) await delay(POLL_MS);
}

/** As `awaitStart`. True if a daemon accepts connections then. */
export async function findsDaemon(paths: Pick<Paths, 'socket' | 'startLock'>): Promise<boolean> {
  await awaitStart(paths);
  return accepts(paths.socket);
}

function accepts(socket: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stream = connect(socket);
  stream.once('connect', () => resolve(true));
  stream.once('error', () => resolve(false));
  return promise.finally(() => stream.destroy());
}
