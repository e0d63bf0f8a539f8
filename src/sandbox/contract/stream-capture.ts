import type { CapturedStream, WideNewlines } from './command.ts';

/** Receives output as it arrives. */
export interface OutputSink {
  /** Returns false for backpressure: send nothing more until the `onceDrained` listener is called. */
  write(chunk: Buffer): boolean;
  onceDrained(listener: () => void): void;
}

const FIRST_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** A plain loop: repeated `indexOf` is many times slower on short lines. */
function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}

/** Number of leading bytes in which a NUL counts as a sign of UTF-16, as a byte order mark does. */
const WIDE_WINDOW_BYTES = 8 * 1024;

function mayBeWide(start: Buffer): boolean {
  const mark = start.length < 2 ? 0 : start.readUInt16BE(0);
  return mark === 0xfffe || mark === 0xfeff || start.subarray(0, WIDE_WINDOW_BYTES).includes(0);
}

/**
 * Adds to `count` the newlines whose second byte is in `bytes`, which starts at `offset` of the stream; `before` is the
 * byte before it.
 */
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

/** A capture as plain data. */
export interface CaptureState {
  readonly bytes: Buffer;
  readonly totalBytes: number;
  readonly newlines: number;
  readonly wide: WideNewlines | null;
  readonly lastByte: number;
}

/**
 * Captures a stream in at most `maxBytes` of memory: all of it if it fits, otherwise the first and the last half. Uses
 * one growing buffer, so that single-byte writes cost no more than large chunks.
 */
export class StreamCapture {
  readonly #maxBytes: number;
  readonly #headMax: number;
  #buffer: Buffer = Buffer.alloc(0);
  #total = 0;
  /** Newlines after the head, counted only once something is dropped. */
  #newlines = 0;
  /** The same for UTF-16; null if the stream does not start like UTF-16. */
  #wide: WideNewlines | null = null;
  #lastByte = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(2, maxBytes);
    this.#headMax = this.#maxBytes >> 1;
  }

  /** Goes on with the capture of another process, which had the same limit. */
  static restore(maxBytes: number, { bytes, totalBytes, newlines, wide, lastByte }: CaptureState): StreamCapture {
    const capture = new StreamCapture(maxBytes);
    // It may be a part of a message with all that was handed over.
    capture.#buffer = Buffer.from(bytes);
    capture.#total = totalBytes;
    capture.#newlines = newlines;
    capture.#wide = wide;
    capture.#lastByte = lastByte;
    return capture;
  }

  get state(): CaptureState {
    const bytes = this.#buffer.subarray(0, Math.min(this.#total, this.#maxBytes));
    return { bytes, totalBytes: this.#total, newlines: this.#newlines, wide: this.#wide, lastByte: this.#lastByte };
  }

  /** Bytes seen so far, including dropped ones. */
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

  /** Excludes newlines that are complete in the tail. */
  #droppedWide(tail: Buffer): WideNewlines | null {
    if (this.#wide === null) return null;
    const kept = { lowFirst: 0, highFirst: 0 };
    const offset = this.#total - tail.length;
    // The second half of a character that was cut does not count as a newline: its first half is unknown here.
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

  /** Past the limit the second half of the buffer is a ring buffer; `#total` keeps counting. */
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
