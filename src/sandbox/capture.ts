import type { CapturedStream } from './sandbox.ts';

const FIRST_BYTES = 16 * 1024;

/**
 * What a stream said, in at most `maxBytes` of memory: everything while it fits; beyond that the first half and the
 * last half. One growing buffer, so that a stream of single bytes costs no more than one of large chunks.
 */
export class StreamCapture {
  readonly #maxBytes: number;
  readonly #headMax: number;
  #buffer: Buffer = Buffer.alloc(0);
  #total = 0;

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
    if (rest.length > 0) this.#wrap(rest);
  }

  result(): CapturedStream {
    const droppedBytes = Math.max(0, this.#total - this.#maxBytes);
    if (droppedBytes === 0) {
      return {
        head: this.#buffer.subarray(0, this.#total),
        tail: Buffer.alloc(0),
        droppedBytes,
        totalBytes: this.#total,
      };
    }
    const ring = this.#buffer.subarray(this.#headMax, this.#maxBytes);
    const oldest = droppedBytes % ring.length;
    return {
      head: this.#buffer.subarray(0, this.#headMax),
      tail: Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]),
      droppedBytes,
      totalBytes: this.#total,
    };
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

  /** Past the limit the second half of the buffer is a ring; `#total` counts on. */
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
