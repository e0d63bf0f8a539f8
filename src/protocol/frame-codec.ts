import { TextDecoder } from 'node:util';

/** One frame either way, bytes of JSON text. Room for 64 MiB of output four times over: escapes make text longer. */
export const FRAME_MAX_BYTES = 256 * 1024 * 1024;
/** The most output of one call that is carried whole; above it head and tail are kept. */
export const OUTPUT_CEILING_BYTES = FRAME_MAX_BYTES / 4;

const HEADER_BYTES = 4;
const FIRST_CAPACITY = 64 * 1024;

/** The other side sent what is not a frame, or a frame that is not of the protocol. Nothing after it can be trusted. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A frame: the length of the body as 4 bytes, most significant first, then the body, UTF-8 JSON. */
export function encodeFrame(value: object, maxBytes: number = FRAME_MAX_BYTES): Buffer {
  const body = stringify(value);
  const size = Buffer.byteLength(body);
  if (size > maxBytes) throw new FrameError(`a frame of ${size} bytes is over the limit of ${maxBytes}`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + size);
  frame.writeUInt32BE(size, 0);
  frame.write(body, HEADER_BYTES, 'utf8');
  return frame;
}

/**
 * Takes bytes as they come and gives the JSON values that are complete. Memory grows with what has arrived, not with
 * what a header announces. Throws FrameError for a length of 0 or over the limit, for bytes that are not UTF-8 and
 * for text that is not JSON; the decoder is of no use after that.
 */
export class FrameDecoder {
  readonly #maxBytes: number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #headerFilled = 0;
  #body = Buffer.alloc(0);
  #bodyFilled = 0;
  #bodySize = 0;

  constructor(maxBytes: number = FRAME_MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): unknown[] {
    const values: unknown[] = [];
    for (let offset = 0; offset < chunk.length; ) {
      offset += this.#headerFilled < HEADER_BYTES ? this.#takeHeader(chunk, offset) : this.#takeBody(chunk, offset);
      if (this.#isComplete()) values.push(this.#finish());
    }
    return values;
  }

  #isComplete(): boolean {
    return this.#headerFilled === HEADER_BYTES && this.#bodyFilled === this.#bodySize;
  }

  #takeHeader(chunk: Buffer, offset: number): number {
    const copied = chunk.copy(this.#header, this.#headerFilled, offset);
    this.#headerFilled += copied;
    if (this.#headerFilled === HEADER_BYTES) this.#beginBody(this.#header.readUInt32BE(0));
    return copied;
  }

  #beginBody(size: number): void {
    if (size === 0) throw new FrameError('a frame of 0 bytes is not a frame');
    if (size > this.#maxBytes) {
      throw new FrameError(`a frame of ${size} bytes is over the limit of ${this.#maxBytes}`);
    }
    this.#bodySize = size;
    this.#bodyFilled = 0;
    this.#body = Buffer.allocUnsafe(Math.min(size, FIRST_CAPACITY));
  }

  #takeBody(chunk: Buffer, offset: number): number {
    const wanted = Math.min(chunk.length - offset, this.#bodySize - this.#bodyFilled);
    this.#ensureCapacity(this.#bodyFilled + wanted);
    chunk.copy(this.#body, this.#bodyFilled, offset, offset + wanted);
    this.#bodyFilled += wanted;
    return wanted;
  }

  #ensureCapacity(size: number): void {
    if (size <= this.#body.length) return;
    const larger = Buffer.allocUnsafe(Math.min(this.#bodySize, Math.max(size, this.#body.length * 2)));
    this.#body.copy(larger, 0, 0, this.#bodyFilled);
    this.#body = larger;
  }

  #finish(): unknown {
    const body = this.#body.subarray(0, this.#bodySize);
    this.#headerFilled = 0;
    this.#body = Buffer.alloc(0);
    this.#bodyFilled = 0;
    this.#bodySize = 0;
    return parse(this.#utf8, body);
  }
}

function parse(utf8: TextDecoder, body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // The parser's message quotes the text, which may hold a secret: it is not carried on.
    throw new FrameError(`a frame of ${body.length} bytes is not JSON in UTF-8`);
  }
}

function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new FrameError('a frame cannot be written as JSON text', { cause });
  }
}
