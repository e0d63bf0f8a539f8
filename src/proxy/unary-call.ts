import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import { AnswerReader, type CallOutcome, PREFIX_BYTES } from './answer.ts';
import {
  encodeFrame,
  encodeFrameHeader,
  encodeNumberFrame,
  encodeSettings,
  FLAG,
  FRAME,
  FRAME_DEFAULT_MAX_BYTES,
  FRAME_LIMIT_BYTES,
  type Frame,
  FrameReader,
  PREFACE,
  RESET,
  SETTING,
  SendWindow,
  WINDOW_DEFAULT_BYTES,
  WINDOW_LIMIT_BYTES,
} from './frames.ts';
import { encodeHeaders, type Header } from './hpack.ts';

/** The only stream of the connection. */
const STREAM = 1;
/** A whole answer fits into the first window, so no WINDOW_UPDATE is needed for a single message. */
const RECEIVE_WINDOW_BYTES = MESSAGE_MAX_BYTES + PREFIX_BYTES + FRAME_DEFAULT_MAX_BYTES;
/** For an answer of several messages: the bytes granted again in one WINDOW_UPDATE. */
const UPDATE_BYTES = 1024 * 1024;

/**
 * One gRPC call with one request over one HTTP/2 connection, apart from the connection itself: bytes enter by `receive`
 * and leave by `takeOutput`, and the end is in `outcome`. The call is sent only after the peer's SETTINGS have arrived:
 * until then the peer may still reject our certificate, and a call that was not sent may be tried again.
 */
export class UnaryCall {
  readonly #reader = new FrameReader();
  readonly #answer: AnswerReader;
  readonly #hasManyMessages: boolean;
  #takenBytes = 0;
  readonly #window = new SendWindow();
  readonly #headers: readonly Header[];
  readonly #body: Buffer;
  #bodySentBytes = 0;
  #output: Buffer[];
  #sent = false;
  #outcome: CallOutcome | undefined;
  readonly #handlers = new Map<number, (frame: Frame) => void>([
    [FRAME.data, (frame) => this.#onData(frame)],
    [FRAME.headers, (frame) => this.#answer.onHeaders(frame)],
    [FRAME.continuation, (frame) => this.#answer.onContinuation(frame)],
    [FRAME.settings, (frame) => this.#onSettings(frame)],
    [FRAME.windowUpdate, (frame) => this.#onWindowUpdate(frame)],
    [FRAME.ping, (frame) => this.#onPing(frame)],
    [FRAME.goAway, (frame) => this.#onGoAway(frame)],
    [FRAME.rstStream, (frame) => this.#onReset(readNumber(frame, 4, 0))],
    [FRAME.pushPromise, refusePush],
  ]);

  /** `onMessage`: allows several messages in the answer and receives each one. Default: exactly one message. */
  constructor(path: string, authority: string, message: Buffer, onMessage?: (message: Buffer) => void) {
    this.#answer = new AnswerReader(STREAM, onMessage);
    this.#hasManyMessages = onMessage !== undefined;
    this.#headers = [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':path', path],
      [':authority', authority],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
    ];
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(message.length, 1);
    this.#body = Buffer.concat([prefix, message]);
    this.#output = [
      PREFACE,
      encodeSettings([
        [SETTING.enablePush, 0],
        [SETTING.initialWindowSize, RECEIVE_WINDOW_BYTES],
      ]),
      encodeNumberFrame(FRAME.windowUpdate, 0, RECEIVE_WINDOW_BYTES - WINDOW_DEFAULT_BYTES),
    ];
  }

  /** True once the call's first bytes are in the output: from then on it must not be sent again. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Set once the call is over. */
  get outcome(): CallOutcome | undefined {
    return this.#outcome ?? this.#answer.outcome;
  }

  /** The bytes to write now, in order. */
  takeOutput(): Buffer[] {
    const output = this.#output;
    this.#output = [];
    return output;
  }

  receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) {
        if (this.outcome !== undefined) return;
        this.#handle(frame);
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#outcome = { kind: 'garbled', reason: error.message };
    }
  }

  /** Asks the peer to abort the call. */
  cancel(): void {
    if (this.#sent) this.#output.push(encodeNumberFrame(FRAME.rstStream, STREAM, RESET.cancel));
  }

  /** Ignores frames of unknown types (RFC 9113 §4.1). */
  #handle(frame: Frame): void {
    if (!this.#sent && frame.type !== FRAME.settings) throw new RangeError('the first frame is not SETTINGS');
    this.#answer.expect(frame.type);
    this.#handlers.get(frame.type)?.(frame);
  }

  #onSettings(frame: Frame): void {
    if ((frame.flags & FLAG.ack) !== 0) return;
    if (frame.payload.length % 6 !== 0) throw new RangeError('SETTINGS of the wrong length');
    for (let at = 0; at < frame.payload.length; at += 6) {
      this.#applySetting(frame.payload.readUInt16BE(at), frame.payload.readUInt32BE(at + 2));
    }
    this.#output.push(encodeFrame({ type: FRAME.settings, flags: FLAG.ack, streamId: 0, payload: Buffer.alloc(0) }));
    if (!this.#sent) this.#sendHeaders();
    this.#sendBody();
  }

  #applySetting(id: number, value: number): void {
    if (id === SETTING.initialWindowSize) {
      if (value > WINDOW_LIMIT_BYTES) throw new RangeError(`an initial window of ${value} bytes`);
      this.#window.setInitial(value);
    }
    if (id === SETTING.maxFrameSize) {
      if (value < FRAME_DEFAULT_MAX_BYTES || value > FRAME_LIMIT_BYTES)
        throw new RangeError(`frames of ${value} bytes`);
      this.#window.frameMaxBytes = value;
    }
  }

  #sendHeaders(): void {
    this.#sent = true;
    const payload = encodeHeaders(this.#headers);
    this.#output.push(encodeFrame({ type: FRAME.headers, flags: FLAG.endHeaders, streamId: STREAM, payload }));
  }

  #sendBody(): void {
    while (this.#bodySentBytes < this.#body.length) {
      const size = Math.min(this.#window.available, this.#body.length - this.#bodySentBytes);
      if (size === 0) return;
      const end = this.#bodySentBytes + size;
      const flags = end === this.#body.length ? FLAG.endStream : 0;
      this.#output.push(encodeFrameHeader(FRAME.data, flags, STREAM, size));
      this.#output.push(this.#body.subarray(this.#bodySentBytes, end));
      this.#bodySentBytes = end;
      this.#window.spend(size);
    }
  }

  /** Grants the bytes of earlier messages again: otherwise they would fill the window before the answer arrives. */
  #onData(frame: Frame): void {
    this.#answer.onData(frame);
    if (!this.#hasManyMessages) return;
    this.#takenBytes += frame.payload.length;
    if (this.#takenBytes < UPDATE_BYTES) return;
    for (const stream of [0, STREAM])
      this.#output.push(encodeNumberFrame(FRAME.windowUpdate, stream, this.#takenBytes));
    this.#takenBytes = 0;
  }

  #onWindowUpdate(frame: Frame): void {
    const bytes = readNumber(frame, 4, 0) & WINDOW_LIMIT_BYTES;
    if (bytes === 0) throw new RangeError('a WINDOW_UPDATE of 0 bytes');
    if (frame.streamId === 0) this.#window.grantConnection(bytes);
    else if (frame.streamId === STREAM) this.#window.grantStream(bytes);
    this.#sendBody();
  }

  #onPing(frame: Frame): void {
    if (frame.payload.length !== 8) throw new RangeError('a PING of the wrong length');
    if ((frame.flags & FLAG.ack) !== 0) return;
    this.#output.push(encodeFrame({ ...frame, flags: FLAG.ack }));
  }

  /** A last stream below ours means that our call was not processed; otherwise the peer completes it (§6.8). */
  #onGoAway(frame: Frame): void {
    const lastStream = readNumber(frame, 8, 0) & WINDOW_LIMIT_BYTES;
    if (lastStream < STREAM) this.#outcome = { kind: 'refused' };
  }

  #onReset(errorCode: number): void {
    this.#outcome = errorCode === RESET.refusedStream ? { kind: 'refused' } : { kind: 'reset', errorCode };
  }
}

function refusePush(): never {
  throw new RangeError('a push although pushes are disabled');
}

function readNumber(frame: Frame, length: number, at: number): number {
  if (frame.payload.length < length) throw new RangeError(`a frame of type ${frame.type} that is too short`);
  return frame.payload.readUInt32BE(at);
}
