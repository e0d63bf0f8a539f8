import type { Duplex } from 'node:stream';
import { encodeFrame, FRAME_MAX_BYTES, FrameDecoder, FrameError } from '../protocol/frame-codec.ts';
import { type DaemonFrame, parseToolFrame, type ToolFrame } from '../protocol/tool-frames.ts';

/** Bytes a tool process may leave unread before it counts as gone: two of the largest frames. */
const BACKLOG_MAX_BYTES = 2 * FRAME_MAX_BYTES;

export interface ChannelEvents {
  onFrame(frame: ToolFrame): void;
  /** Once: the channel is at its end, or what came over it cannot be trusted. Nothing follows. */
  onEnd(reason: string): void;
}

/** Frames over the socket to one tool process. Everything that arrives is checked; the first fault ends it. */
export class ToolChannel {
  readonly #socket: Duplex;
  readonly #events: ChannelEvents;
  readonly #decoder = new FrameDecoder();
  #ended = false;

  constructor(socket: Duplex, events: ChannelEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => this.#end('its channel broke'));
    socket.once('end', () => this.#end('it closed its channel'));
    socket.once('close', () => this.#end('it closed its channel'));
  }

  /** Throws FrameError when the frame is too large for the protocol; a dead channel takes frames silently. */
  send(frame: DaemonFrame): void {
    if (this.#ended) return;
    const bytes = encodeFrame(frame);
    if (this.#socket.writableLength > BACKLOG_MAX_BYTES) this.#end('it does not read what it is sent');
    else this.#socket.write(bytes);
  }

  close(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      for (const value of this.#decoder.push(chunk)) this.#deliver(parseToolFrame(value));
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) throw thrown;
      this.#end(`it broke the tool protocol: ${thrown.message}`);
    }
  }

  #deliver(frame: ToolFrame): void {
    if (!this.#ended) this.#events.onFrame(frame);
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.close();
    this.#events.onEnd(reason);
  }
}
