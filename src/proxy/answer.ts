import { MESSAGE_MAX_BYTES } from '../protocol/limits.ts';
import { FLAG, FRAME, type Frame, unpad } from './frames.ts';
import { HeaderDecoder } from './hpack.ts';

/** How a call ended, as far as HTTP/2 and gRPC know. */
export type CallOutcome =
  | { kind: 'answered'; message: Buffer }
  /** gRPC status other than OK. */
  | { kind: 'failed'; status: number; message: string; trailers: ReadonlyMap<string, string> }
  /** The peer says it did not look at the call. */
  | { kind: 'refused' }
  /** The peer gave the call up; it may have begun. */
  | { kind: 'reset'; errorCode: number }
  /** What came is not gRPC over HTTP/2. */
  | { kind: 'garbled'; reason: string };

/** Compressed flag and length before a gRPC message. */
export const PREFIX_BYTES = 5;
/** Header blocks are small; a peer that goes on and on is cut off here. */
const HEADER_BLOCK_MAX_BYTES = 256 * 1024;

/** Reads the peer's half of a stream: headers, message, trailers. Every method throws RangeError for a broken one. */
export class AnswerReader {
  readonly #streamId: number;
  readonly #decoder = new HeaderDecoder();
  #block: Buffer[] | undefined;
  #blockBytes = 0;
  #blockEndsStream = false;
  #begun = false;
  #chunks: Buffer[] = [];
  #chunksBytes = 0;
  #outcome: CallOutcome | undefined;

  constructor(streamId: number) {
    this.#streamId = streamId;
  }

  /** Set once the trailers have come. */
  get outcome(): CallOutcome | undefined {
    return this.#outcome;
  }

  /** Nothing but CONTINUATION may come inside a header block (RFC 9113 §6.10). */
  expect(frameType: number): void {
    if ((this.#block !== undefined) !== (frameType === FRAME.continuation)) {
      throw new RangeError('a header block is interrupted, or goes on after its end');
    }
  }

  onHeaders(frame: Frame): void {
    if (frame.streamId !== this.#streamId) throw new RangeError(`headers on stream ${frame.streamId}`);
    this.#block = [];
    this.#blockBytes = 0;
    this.#blockEndsStream = (frame.flags & FLAG.endStream) !== 0;
    this.#addToBlock(unpad(frame), frame.flags);
  }

  onContinuation(frame: Frame): void {
    this.#addToBlock(frame.payload, frame.flags);
  }

  onData(frame: Frame): void {
    if (frame.streamId !== this.#streamId || !this.#begun) throw new RangeError('data before headers');
    const part = unpad(frame);
    this.#chunks.push(part);
    this.#chunksBytes += part.length;
    if (this.#chunksBytes > MESSAGE_MAX_BYTES + PREFIX_BYTES) {
      throw new RangeError(`an answer of more than ${MESSAGE_MAX_BYTES} bytes`);
    }
    if ((frame.flags & FLAG.endStream) !== 0) throw new RangeError('an answer without trailers');
  }

  #addToBlock(part: Buffer, flags: number): void {
    this.#block?.push(part);
    this.#blockBytes += part.length;
    if (this.#blockBytes > HEADER_BLOCK_MAX_BYTES) throw new RangeError('a header block without end');
    if ((flags & FLAG.endHeaders) === 0) return;
    const headers = new Map(this.#decoder.decode(Buffer.concat(this.#block ?? [])));
    this.#block = undefined;
    this.#onHeaderBlock(headers);
  }

  #onHeaderBlock(headers: ReadonlyMap<string, string>): void {
    if (!this.#begun) {
      this.#begun = true;
      const status = headers.get(':status');
      if (status !== '200') throw new RangeError(`HTTP status ${status ?? 'missing'}`);
    }
    if (this.#blockEndsStream) this.#finish(headers);
  }

  #finish(trailers: ReadonlyMap<string, string>): void {
    const status = trailers.get('grpc-status');
    if (status === undefined || !/^\d{1,3}$/.test(status)) throw new RangeError('trailers without grpc-status');
    if (status === '0') this.#outcome = { kind: 'answered', message: this.#message() };
    else this.#outcome = { kind: 'failed', status: Number(status), message: decodeMessage(trailers), trailers };
  }

  #message(): Buffer {
    const body = Buffer.concat(this.#chunks);
    if (body.length < PREFIX_BYTES) throw new RangeError('status OK without a message');
    if (body[0] !== 0) throw new RangeError('a compressed message');
    if (body.readUInt32BE(1) !== body.length - PREFIX_BYTES) throw new RangeError('a message of a wrong length');
    return body.subarray(PREFIX_BYTES);
  }
}

/** grpc-message is percent-encoded UTF-8; a broken one is shown as it came. */
function decodeMessage(trailers: ReadonlyMap<string, string>): string {
  const message = trailers.get('grpc-message') ?? '';
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
