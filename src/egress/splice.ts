import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import { HALF_CLOSED_MAX_MS, IDLE_MAX_MS } from './limits.ts';

/**
 * Carries bytes both ways, and ends of one direction alone, until both have ended. Each side waits for the other: no more
 * than one chunk is held. Both sockets are paused and `allowHalfOpen`; the connection holds `upstream` already.
 */
export function splice(client: Socket, upstream: Socket, connection: Connection): void {
  connection.hold(client);
  const cutIdle = (): void => connection.end('no byte passed for a long time');
  for (const socket of [client, upstream]) {
    socket.setTimeout(IDLE_MAX_MS, cutIdle);
    socket.once('end', () => {
      client.setTimeout(HALF_CLOSED_MAX_MS);
      upstream.setTimeout(HALF_CLOSED_MAX_MS);
    });
  }
  carry(client, upstream, (chunk) => connection.sending(chunk.length));
  carry(upstream, client, (chunk) => {
    connection.received(chunk.length);
    return true;
  });
  client.once('close', () => connection.end());
  upstream.once('close', (isBroken: boolean) => {
    if (isBroken) client.resetAndDestroy();
    // Both directions have ended. What the program has not read yet is still delivered.
    else client.destroySoon();
  });
  if (client.destroyed) connection.end();
  else if (upstream.destroyed) client.destroySoon();
}

/** The server's bytes alone, before the program has said anything that may pass. Returns what stops it. */
export function carryAnswers(client: Socket, upstream: Socket, connection: Connection): () => void {
  const onData = (chunk: Buffer): void => {
    connection.received(chunk.length);
    if (!client.write(chunk)) upstream.pause();
  };
  const onDrain = (): void => void upstream.resume();
  upstream.on('data', onData).resume();
  client.on('drain', onDrain);
  return () => {
    upstream.off('data', onData).pause();
    client.off('drain', onDrain);
  };
}

function carry(from: Socket, to: Socket, passes: (chunk: Buffer) => boolean): void {
  from.on('data', (chunk: Buffer) => {
    if (passes(chunk) && !to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.once('end', () => to.end());
  if (from.readableEnded) to.end();
  from.resume();
}
