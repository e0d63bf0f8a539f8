import { Worker } from 'node:worker_threads';
import { Channel } from '../../core/channel.ts';
import { ownProgram } from '../../core/own-program.ts';
import type { CapturedStream } from '../contract/command.ts';
import { type CaptureState, StreamCapture } from '../contract/stream-capture.ts';
import type { TerminalReply, TerminalRequest } from './terminal-thread/messages.ts';

/** Maximum bytes queued for the emulator. Beyond this, output is dropped and a line in the output says so. */
const WAITING_MAX_BYTES = 16 * 1024 * 1024;
/** Bytes per message: the emulator acknowledges each. */
const MESSAGE_BYTES = 16 * 1024;
/** Timeout for one message; output that takes longer to render is an attack. */
const SILENT_MAX_MS = 20_000;
const THREAD_MAX_MB = 256;
const LOST = '… the rest was not kept by contextd: its terminal could not follow the output …\n';

/**
 * Captures a command's terminal output as text in about `maxBytes` of memory: its head and tail if it is longer. The
 * emulator runs in a worker thread, which `close` ends.
 */
export class TerminalCapture {
  readonly #scrolledOff: StreamCapture;
  /** Closed once the thread is lost. */
  readonly #screens = new Channel<void, string>((id) =>
    this.#thread?.postMessage({ show: id } satisfies TerminalRequest),
  );
  #thread: Worker | null = null;
  #totalBytes = 0;
  #waitingBytes = 0;
  #droppedBytes = 0;
  #heardAt = 0;

  constructor(maxBytes: number) {
    this.#scrolledOff = new StreamCapture(maxBytes);
  }

  /** Goes on with the capture of another process. What its screen showed counts as scrolled off. */
  static restore(maxBytes: number, { bytes, totalBytes }: Pick<CaptureState, 'bytes' | 'totalBytes'>): TerminalCapture {
    const capture = new TerminalCapture(maxBytes);
    capture.#scrolledOff.add(bytes);
    capture.#totalBytes = totalBytes;
    return capture;
  }

  /** Bytes that the command wrote, including escape sequences that the terminal removed. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(bytes: Buffer): void {
    this.#totalBytes += bytes.length;
    if (this.#screens.isClosed) return;
    if (this.#waitingBytes > WAITING_MAX_BYTES) {
      this.#droppedBytes += bytes.length;
      return;
    }
    this.#noteDropped();
    this.#write(bytes);
  }

  /** The text so far. The part on the screen may still change. */
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
    if (this.#screens.isClosed) return `\n${LOST}`;
    if (this.#thread === null) return '';
    this.#heardAt = performance.now();
    const screen = this.#screens.ask();
    const timer = setInterval(() => {
      if (performance.now() - this.#heardAt > SILENT_MAX_MS) this.#lose();
    }, 1_000);
    return screen.catch(() => `\n${LOST}`).finally(() => clearInterval(timer));
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
    const thread = new Worker(ownProgram(new URL('./terminal-thread/main.js', import.meta.url)), {
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
      this.#screens.resolve(reply.show, reply.screen);
      return;
    }
    this.#waitingBytes -= reply.read;
    if (reply.scrolledOff !== '') this.#scrolledOff.add(Buffer.from(reply.scrolledOff));
  }

  #lose(): void {
    this.close();
    this.#screens.close(new Error(LOST));
  }
}

/** Captures the output of a command. */
export type Capture = StreamCapture | TerminalCapture;

export function openCapture(maxBytes: number, isTerminal: boolean): Capture {
  return isTerminal ? new TerminalCapture(maxBytes) : new StreamCapture(maxBytes);
}

/** A capture as plain data, for `restoreCapture` in another process. */
export async function stateOf(capture: Capture): Promise<CaptureState> {
  if (capture instanceof StreamCapture) return capture.state;
  const { head, tail } = await capture.result();
  const bytes = Buffer.concat([head, tail]);
  return { bytes, totalBytes: capture.totalBytes, newlines: 0, wide: null, lastByte: 0 };
}

export function restoreCapture(maxBytes: number, isTerminal: boolean, state: CaptureState): Capture {
  return isTerminal ? TerminalCapture.restore(maxBytes, state) : StreamCapture.restore(maxBytes, state);
}

export function closeCapture(capture: Capture): void {
  if (capture instanceof TerminalCapture) capture.close();
}
