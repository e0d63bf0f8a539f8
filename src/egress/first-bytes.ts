import type { Socket } from 'node:net';
import { FIRST_BYTES_MAX_MS } from './limits.ts';

/** A number: how many bytes are needed at least for another attempt. */
type Judgement<T> = { readonly needs: number } | { readonly result: T };

/**
 * Reads from a paused socket until `judge` has a result, and leaves the socket paused. The bytes are put back if
 * there is a result. Null if the other side ended or was too slow. `judge` must bound what it asks for.
 */
export function readFirst<T>(socket: Socket, judge: (data: Buffer) => Judgement<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>();
  const chunks: Buffer[] = [];
  let have = 0;
  let needs = 1;
  const stop = (result: T | null): void => {
    clearTimeout(giveUp);
    socket.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
    if (result !== null) socket.unshift(Buffer.concat(chunks));
    resolve(result);
  };
  const onEnd = (): void => stop(null);
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    have += chunk.length;
    if (have < needs) return;
    const judgement = judge(Buffer.concat(chunks));
    if ('result' in judgement) stop(judgement.result);
    else needs = Math.max(judgement.needs, have + 1);
  };
  const giveUp = setTimeout(onEnd, FIRST_BYTES_MAX_MS);
  if (socket.destroyed || socket.readableEnded) stop(null);
  else socket.on('data', onData).on('end', onEnd).on('close', onEnd).resume();
  return promise;
}

/** Takes bytes that `readFirst` put back. */
export function takeFirst(socket: Socket, bytes: number): Buffer {
  const taken: unknown = socket.read(bytes);
  return Buffer.isBuffer(taken) ? taken : Buffer.alloc(0);
}
