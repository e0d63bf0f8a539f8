import { readSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isErrno } from '../core/errors.ts';

const CHUNK_BYTES = 64 * 1024;

/** Where output goes as it comes. */
export interface OutputSink {
  /** False: send no more until `onceDrained` calls. */
  write(chunk: Buffer): boolean;
  onceDrained(listener: () => void): void;
}

/** Reads one end of a non-blocking pipe into a sink. Takes over the descriptor. */
export class OutputReader {
  readonly #fd: number;
  readonly #socket: Socket;
  #sink: OutputSink | null = null;
  #totalBytes = 0;
  /** While the sink takes no more. */
  #heldBack: Promise<void> | null = null;

  /** Nothing is read before `readInto`. */
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
   * Returns when what is in the pipe was read. For when every process that wrote is dead: the end of the pipe itself
   * comes only when the kernel has put the sandbox's last process away, and never while somebody else holds it open.
   */
  async readRest(): Promise<void> {
    for (;;) {
      if (this.#heldBack !== null) {
        await this.#heldBack;
        // What the socket had taken in before it was paused comes first.
        await nextTurn();
      } else if (this.#socket.destroyed || !this.#readNow()) return;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Takes one chunk out of the pipe; false when nothing is in it. The socket has nothing of it: it reads in turns of its own. */
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

/** 0 at the end of the pipe, and where nothing is in it. */
function readAvailable(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch (cause) {
    if (isErrno(cause, 'EAGAIN')) return 0;
    throw cause;
  }
}
