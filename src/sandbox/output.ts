import { readSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isErrno } from '../core/errors.ts';
import type { CapturedStream, WideNewlines } from './sandbox.ts';

const CHUNK_BYTES = 64 * 1024;

/** Where output goes as it arrives. */
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

const FIRST_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** A plain loop: a search from newline to newline is many times slower in short lines. */
function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}

/** Bytes of the start in which a NUL, or a byte order mark, is a sign of UTF-16. */
const WIDE_WINDOW_BYTES = 8 * 1024;

function mayBeWide(start: Buffer): boolean {
  const mark = start.length < 2 ? 0 : start.readUInt16BE(0);
  return mark === 0xfffe || mark === 0xfeff || start.subarray(0, WIDE_WINDOW_BYTES).includes(0);
}

/** Adds to `count` the characters whose second byte is in `bytes`, which begins at `offset` of the stream after `before`. */
function addWide(count: WideNewlines, bytes: Buffer, offset: number, before: number): void {
  let last = before;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if ((offset + at) % 2 === 1) {
      if (last === NEWLINE && byte === 0) count.lowFirst += 1;
      else if (last === 0 && byte === NEWLINE) count.highFirst += 1;
    }
    last = byte;
  }
}

/**
 * Keeps a stream in at most `maxBytes` of memory: all of it if it fits, otherwise the first half and the last half. One
 * growing buffer, so that a stream of single bytes costs no more than one of large chunks.
 */
export class StreamCapture {
  readonly #maxBytes: number;
  readonly #headMax: number;
  #buffer: Buffer = Buffer.alloc(0);
  #total = 0;
  /** Newlines of everything after the head, counted once something is dropped. */
  #newlines = 0;
  /** The same for UTF-16; null if the stream does not begin like it. */
  #wide: WideNewlines | null = null;
  #lastByte = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(2, maxBytes);
    this.#headMax = this.#maxBytes >> 1;
  }

  /** Bytes seen so far, kept or not. */
  get totalBytes(): number {
    return this.#total;
  }

  add(chunk: Buffer): void {
    const fitting = chunk.subarray(0, Math.max(0, this.#maxBytes - this.#total));
    if (fitting.length > 0) this.#append(fitting);
    const rest = chunk.subarray(fitting.length);
    if (rest.length === 0) return;
    if (this.#total === this.#maxBytes) this.#beginCount();
    this.#newlines += countNewlines(rest);
    if (this.#wide !== null) addWide(this.#wide, rest, this.#total, this.#lastByte);
    this.#lastByte = rest.at(-1) ?? 0;
    this.#wrap(rest);
  }

  result(): CapturedStream {
    const droppedBytes = Math.max(0, this.#total - this.#maxBytes);
    if (droppedBytes === 0) {
      return {
        head: this.#buffer.subarray(0, this.#total),
        tail: Buffer.alloc(0),
        droppedBytes,
        droppedNewlines: 0,
        totalBytes: this.#total,
      };
    }
    const ring = this.#buffer.subarray(this.#headMax, this.#maxBytes);
    const oldest = droppedBytes % ring.length;
    const tail = Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
    return {
      head: this.#buffer.subarray(0, this.#headMax),
      tail,
      droppedBytes,
      droppedNewlines: this.#newlines - countNewlines(ring),
      droppedWideNewlines: this.#droppedWide(tail),
      totalBytes: this.#total,
    };
  }

  #beginCount(): void {
    const head = this.#buffer.subarray(0, this.#headMax);
    const rest = this.#buffer.subarray(this.#headMax);
    this.#newlines = countNewlines(rest);
    if (mayBeWide(head)) {
      this.#wide = { lowFirst: 0, highFirst: 0 };
      addWide(this.#wide, rest, this.#headMax, head.at(-1) ?? 0);
    }
    this.#lastByte = rest.at(-1) ?? 0;
  }

  /** Without those that are whole in the tail. */
  #droppedWide(tail: Buffer): WideNewlines | null {
    if (this.#wide === null) return null;
    const kept = { lowFirst: 0, highFirst: 0 };
    const offset = this.#total - tail.length;
    // The second half of a character that was cut is no newline: its first half is unknown here.
    addWide(kept, tail, offset, 0xff);
    return { lowFirst: this.#wide.lowFirst - kept.lowFirst, highFirst: this.#wide.highFirst - kept.highFirst };
  }

  #append(chunk: Buffer): void {
    const needed = this.#total + chunk.length;
    if (needed > this.#buffer.length) {
      const size = Math.min(this.#maxBytes, Math.max(FIRST_BYTES, needed, this.#buffer.length * 2));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#total);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#total);
    this.#total = needed;
  }

  /** After the limit the second half of the buffer is a ring; `#total` keeps counting. */
  #wrap(chunk: Buffer): void {
    const ringBytes = this.#maxBytes - this.#headMax;
    const last = chunk.subarray(Math.max(0, chunk.length - ringBytes));
    this.#total += chunk.length - last.length;
    let at = (this.#total - this.#maxBytes) % ringBytes;
    for (let from = 0; from < last.length; ) {
      const part = last.subarray(from, from + ringBytes - at);
      part.copy(this.#buffer, this.#headMax + at);
      from += part.length;
      at = (at + part.length) % ringBytes;
    }
    this.#total += last.length;
  }
}
