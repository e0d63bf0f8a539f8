import { readSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isErrno } from '../../core/errors.ts';
import type { OutputSink } from '../contract/stream-capture.ts';

const CHUNK_BYTES = 64 * 1024;

/** Reads one end of a non-blocking pipe into a sink. Takes over the descriptor. */
export class OutputReader {
  readonly #fd: number;
  readonly #socket: Socket;
  #sink: OutputSink | null = null;
  #totalBytes = 0;
  /** Pending while the sink takes no more. */
  #heldBack: Promise<void> | null = null;

  /** Reads nothing until `readInto` is called. */
  constructor(fd: number) {
    this.#fd = fd;
    this.#socket = new Socket({ fd, readable: true, writable: false });
    this.#socket.on('error', () => {});
  }

  /** Bytes read so far. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  readInto(sink: OutputSink): void {
    this.#sink = sink;
    this.#socket.on('data', (chunk: Buffer) => this.#pass(chunk));
  }

  /**
   * Returns when the pipe is empty. Call it when every process that wrote is dead: the end of the pipe itself comes
   * only after the kernel has released the sandbox's last process, and never while another process holds it open.
   */
  async readRest(): Promise<void> {
    for (;;) {
      if (this.#heldBack !== null) {
        await this.#heldBack;
        // What the socket had read before it was paused comes first.
        await nextTurn();
      } else if (this.#socket.destroyed || !this.#readNow()) return;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Reads one chunk from the pipe; false if it is empty. The socket does not hold part of it: it reads in turns of its
   * own.
   */
  #readNow(): boolean {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const bytes = readAvailable(this.#fd, chunk);
    if (bytes > 0) this.#pass(chunk.subarray(0, bytes));
    return bytes > 0;
  }

  #pass(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const sink = this.#sink;
    if (sink === null || sink.write(chunk) || this.#heldBack !== null) return;
    this.#socket.pause();
    this.#heldBack = new Promise((resolve) => {
      sink.onceDrained(() => {
        this.#heldBack = null;
        this.#socket.resume();
        resolve();
      });
    });
  }
}

/** Returns 0 at the end of the pipe and if the pipe is empty. */
function readAvailable(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch (cause) {
    if (isErrno(cause, 'EAGAIN')) return 0;
    throw cause;
  }
}
