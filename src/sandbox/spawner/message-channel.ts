import type { Duplex } from 'node:stream';
import type { JsonObject } from '../../core/json.ts';
import { encodeMessage, MessageDecoder, type Reply, type Request } from './messages.ts';

/** Bytes that may wait for the other side before a sender is told to wait: enough that both sides always have work. */
const WAITING_MAX_BYTES = 1024 * 1024;

/** Messages over the socket between daemon and spawner. What is sent in one turn goes out in one write. */
export class MessageChannel {
  readonly #socket: Duplex;
  readonly #onDrained = new Set<() => void>();
  #isCorked = false;

  /** `onClosed` is called once, when nothing more can come: the other side is gone. */
  constructor(socket: Duplex, onMessage: (header: JsonObject, body: Buffer) => void, onClosed: () => void) {
    this.#socket = socket;
    const decoder = new MessageDecoder(onMessage);
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    socket.on('error', () => {});
    socket.once('close', onClosed);
    socket.on('end', () => socket.destroy());
    socket.on('drain', () => this.#drained());
  }

  /** False when the other side reads more slowly than this one writes: wait for `onceDrained`. */
  send(message: Request | Reply, body?: Buffer): boolean {
    if (this.#socket.destroyed) return true;
    this.#cork();
    for (const part of encodeMessage(message, body)) this.#socket.write(part);
    return this.#socket.writableLength < WAITING_MAX_BYTES;
  }

  onceDrained(listener: () => void): void {
    this.#onDrained.add(listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#socket.uncork();
    });
  }

  #drained(): void {
    const listeners = [...this.#onDrained];
    this.#onDrained.clear();
    for (const listener of listeners) listener();
  }
}
