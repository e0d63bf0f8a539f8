import { Worker } from 'node:worker_threads';
import { StreamCapture } from './output.ts';
import type { CapturedStream } from './sandbox.ts';
import type { TerminalReply, TerminalRequest } from './terminal-thread.ts';

/** Bytes that may wait for the emulator. What comes faster than it shows them is dropped, and a line says so. */
const WAITING_MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of one message: the emulator answers after each. */
const MESSAGE_BYTES = 16 * 1024;
/** Milliseconds for a message; output that takes longer is an attack. */
const SILENT_MAX_MS = 20_000;
const THREAD_MAX_MB = 256;
const LOST = '… the rest was not kept by contextd: its terminal could not follow the output …\n';

/**
 * Keeps what a command printed on its terminal, as text, in about `maxBytes` of memory: head and tail if it is longer. The
 * emulator runs in a thread, which `close` ends.
 */
export class TerminalCapture {
  readonly #scrolledOff: StreamCapture;
  readonly #asked = new Map<number, (screen: string) => void>();
  #thread: Worker | null = null;
  #isLost = false;
  #totalBytes = 0;
  #waitingBytes = 0;
  #droppedBytes = 0;
  #lastAsked = 0;
  #heardAt = 0;

  constructor(maxBytes: number) {
    this.#scrolledOff = new StreamCapture(maxBytes);
  }

  /** Bytes that the command wrote, with the codes that the terminal took out. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(bytes: Buffer): void {
    this.#totalBytes += bytes.length;
    if (this.#isLost) return;
    if (this.#waitingBytes > WAITING_MAX_BYTES) {
      this.#droppedBytes += bytes.length;
      return;
    }
    this.#noteDropped();
    this.#write(bytes);
  }

  /** The text so far. It may change where the screen is. */
  async result(): Promise<CapturedStream> {
    const screen = Buffer.from(await this.#screen());
    const before = this.#scrolledOff.result();
    const totalBytes = before.totalBytes + screen.length;
    if (before.droppedBytes === 0) return { ...before, head: Buffer.concat([before.head, screen]), totalBytes };
    return { ...before, tail: Buffer.concat([before.tail, screen]), totalBytes };
  }

  /** Ends the thread. Idempotent. */
  close(): void {
    void this.#thread?.terminate();
    this.#thread = null;
  }

  async #screen(): Promise<string> {
    this.#noteDropped();
    const thread = this.#thread;
    if (this.#isLost) return `\n${LOST}`;
    if (thread === null) return '';
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#lastAsked += 1;
    this.#asked.set(this.#lastAsked, resolve);
    this.#heardAt = performance.now();
    this.#post(thread, { show: this.#lastAsked });
    const timer = setInterval(() => {
      if (performance.now() - this.#heardAt > SILENT_MAX_MS) this.#lose();
    }, 1_000);
    return promise.finally(() => clearInterval(timer));
  }

  #write(bytes: Buffer): void {
    this.#thread ??= this.#start();
    this.#waitingBytes += bytes.length;
    for (let from = 0; from < bytes.length; from += MESSAGE_BYTES) {
      this.#post(this.#thread, { write: Uint8Array.from(bytes.subarray(from, from + MESSAGE_BYTES)) });
    }
  }

  #noteDropped(): void {
    if (this.#droppedBytes === 0) return;
    const dropped = this.#droppedBytes;
    this.#droppedBytes = 0;
    this.#write(Buffer.from(`\r\n… ${dropped} bytes came too fast and were not kept by contextd …\r\n`));
  }

  #post(thread: Worker, request: TerminalRequest): void {
    thread.postMessage(request);
  }

  #start(): Worker {
    const thread = new Worker(new URL('./terminal-thread.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MAX_MB },
      env: {},
    });
    thread.unref();
    thread.on('message', (reply: TerminalReply) => this.#receive(reply));
    thread.on('error', () => this.#lose());
    return thread;
  }

  #receive(reply: TerminalReply): void {
    this.#heardAt = performance.now();
    if ('show' in reply) {
      this.#asked.get(reply.show)?.(reply.screen);
      this.#asked.delete(reply.show);
      return;
    }
    this.#waitingBytes -= reply.read;
    if (reply.scrolledOff !== '') this.#scrolledOff.add(Buffer.from(reply.scrolledOff));
  }

  #lose(): void {
    this.#isLost = true;
    this.close();
    for (const resolve of this.#asked.values()) resolve(`\n${LOST}`);
    this.#asked.clear();
  }
}

/** Where the output of a command is kept. */
export type Capture = StreamCapture | TerminalCapture;

export function openCapture(maxBytes: number, isTerminal: boolean): Capture {
  return isTerminal ? new TerminalCapture(maxBytes) : new StreamCapture(maxBytes);
}

export function closeCapture(capture: Capture): void {
  if (capture instanceof TerminalCapture) capture.close();
}
