import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import { FLAG, FRAME, type Frame, unpad } from './frames.ts';
import { HeaderDecoder } from './hpack.ts';

/** How a call ended at the level of HTTP/2 and gRPC. */
export type CallOutcome =
  /** `message`: the only message, or the last of several. */
  | { kind: 'answered'; message: Buffer }
  /** The gRPC status is not OK. */
  | { kind: 'failed'; status: number; message: string; trailers: ReadonlyMap<string, string> }
  /** The peer did not process the call. */
  | { kind: 'refused' }
  /** The peer aborted the call, which may have begun. */
  | { kind: 'reset'; errorCode: number }
  /** The bytes received are not gRPC over HTTP/2. */
  | { kind: 'garbled'; reason: string };

/** The compression flag and the length before a gRPC message. */
export const PREFIX_BYTES = 5;
/** Real header blocks are far smaller; this limit stops a peer that never ends one. */
const HEADER_BLOCK_MAX_BYTES = 256 * 1024;

/** Reads the peer's half of a stream: headers, messages, trailers. Every method throws RangeError if it is malformed. */
export class AnswerReader {
  readonly #streamId: number;
  readonly #onMessage: ((message: Buffer) => void) | undefined;
  readonly #decoder = new HeaderDecoder();
  #block: Buffer[] | undefined;
  #blockBytes = 0;
  #blockEndsStream = false;
  #begun = false;
  #chunks: Buffer[] = [];
  #chunksBytes = 0;
  /** Bytes of the current message with its prefix; of the prefix alone until it is complete. */
  #neededBytes = PREFIX_BYTES;
  #last: Buffer | undefined;
  #outcome: CallOutcome | undefined;

  /** `onMessage`: allows several messages and receives each one. Default: exactly one message is allowed. */
  constructor(streamId: number, onMessage?: (message: Buffer) => void) {
    this.#streamId = streamId;
    this.#onMessage = onMessage;
  }

  /** Set once the trailers have arrived. */
  get outcome(): CallOutcome | undefined {
    return this.#outcome;
  }

  /** Inside a header block only CONTINUATION is allowed (RFC 9113 §6.10). */
  expect(frameType: number): void {
    if ((this.#block !== undefined) !== (frameType === FRAME.continuation)) {
      throw new RangeError('a header block is interrupted, or continues after its end');
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
    if (this.#onMessage !== undefined) this.#deliverMessages(this.#onMessage);
    if (this.#chunksBytes > MESSAGE_MAX_BYTES + PREFIX_BYTES) {
      throw new RangeError(`an answer of more than ${MESSAGE_MAX_BYTES} bytes`);
    }
    if ((frame.flags & FLAG.endStream) !== 0) throw new RangeError('an answer without trailers');
  }

  #addToBlock(part: Buffer, flags: number): void {
    this.#block?.push(part);
    this.#blockBytes += part.length;
    if (this.#blockBytes > HEADER_BLOCK_MAX_BYTES) throw new RangeError('a header block that is too long');
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
    if (this.#onMessage !== undefined) return this.#lastMessage();
    const body = Buffer.concat(this.#chunks);
    if (body.length < PREFIX_BYTES) throw new RangeError('status OK without a message');
    if (messageEnd(body) !== body.length) throw new RangeError('a message of the wrong length');
    return body.subarray(PREFIX_BYTES);
  }

  #lastMessage(): Buffer {
    if (this.#chunksBytes > 0) throw new RangeError('a message of the wrong length');
    if (this.#last === undefined) throw new RangeError('status OK without a message');
    return this.#last;
  }

  /** Joins chunks only when a message is complete. */
  #deliverMessages(deliver: (message: Buffer) => void): void {
    while (this.#chunksBytes >= this.#neededBytes) {
      const bytes = Buffer.concat(this.#chunks);
      const end = messageEnd(bytes);
      const isWhole = bytes.length >= end;
      const rest = isWhole ? bytes.subarray(end) : bytes;
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#chunksBytes = rest.length;
      this.#neededBytes = isWhole ? PREFIX_BYTES : end;
      if (!isWhole) return;
      this.#last = bytes.subarray(PREFIX_BYTES, end);
      deliver(this.#last);
    }
  }
}

/** The end of the message that begins with these bytes. */
function messageEnd(bytes: Buffer): number {
  if (bytes[0] !== 0) throw new RangeError('a compressed message');
  return PREFIX_BYTES + bytes.readUInt32BE(1);
}

/** grpc-message is percent-encoded UTF-8. A malformed one is shown undecoded. */
function decodeMessage(trailers: ReadonlyMap<string, string>): string {
  const message = trailers.get('grpc-message') ?? '';
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
