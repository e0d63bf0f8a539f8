/** The HTTP/2 frame types (RFC 9113 §4) that occur in one call. */
export const FRAME = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const SETTING = { enablePush: 2, initialWindowSize: 4, maxFrameSize: 5 } as const;

export const RESET = { noError: 0, refusedStream: 7, cancel: 8 } as const;

/** The first bytes a client sends (RFC 9113 §3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** The default for the largest payload of a frame, bytes; also the smallest value a setting may have. */
export const FRAME_DEFAULT_MAX_BYTES = 16_384;
/** The largest payload a peer can allow, bytes. */
export const FRAME_LIMIT_BYTES = 0xff_ffff;
/** The initial size of a window, bytes. */
export const WINDOW_DEFAULT_BYTES = 65_535;
/** The largest size of a window, bytes. */
export const WINDOW_LIMIT_BYTES = 0x7fff_ffff;

const HEADER_BYTES = 9;

export interface Frame {
  type: number;
  flags: number;
  streamId: number;
  payload: Buffer;
}

/** Encodes the nine bytes before a payload. */
export function encodeFrameHeader(type: number, flags: number, streamId: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUIntBE(length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return header;
}

export function encodeFrame(frame: Frame): Buffer {
  const { type, flags, streamId, payload } = frame;
  return Buffer.concat([encodeFrameHeader(type, flags, streamId, payload.length), payload]);
}

export function encodeSettings(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return encodeFrame({ type: FRAME.settings, flags: 0, streamId: 0, payload });
}

/** Encodes a frame whose payload is one 32-bit number: WINDOW_UPDATE or RST_STREAM. */
export function encodeNumberFrame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return encodeFrame({ type, flags: 0, streamId, payload });
}

/** Splits a byte stream into frames, whatever the size of its chunks. */
export class FrameReader {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #neededBytes = HEADER_BYTES;

  /** Returns the frames that `chunk` completes. Throws RangeError for a frame larger than we allow. */
  push(chunk: Buffer): Frame[] {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes < this.#neededBytes) return [];
    const bytes = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending);
    const frames: Frame[] = [];
    let at = 0;
    for (let end = frameEnd(bytes, at); end <= bytes.length; end = frameEnd(bytes, at)) {
      frames.push(decodeFrame(bytes, at, end));
      at = end;
    }
    this.#keep(bytes.subarray(at), frameEnd(bytes, at) - at);
    return frames;
  }

  #keep(rest: Buffer, neededBytes: number): void {
    this.#pending = rest.length === 0 ? [] : [rest];
    this.#pendingBytes = rest.length;
    this.#neededBytes = neededBytes;
  }
}

/** The end of the frame at `at`, or of its header while the header is incomplete. */
function frameEnd(bytes: Buffer, at: number): number {
  if (bytes.length - at < HEADER_BYTES) return at + HEADER_BYTES;
  const length = bytes.readUIntBE(at, 3);
  if (length > FRAME_DEFAULT_MAX_BYTES)
    throw new RangeError(`a frame of ${length} bytes, ${FRAME_DEFAULT_MAX_BYTES} allowed`);
  return at + HEADER_BYTES + length;
}

function decodeFrame(bytes: Buffer, at: number, end: number): Frame {
  return {
    type: bytes.readUInt8(at + 3),
    flags: bytes.readUInt8(at + 4),
    streamId: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
    payload: bytes.subarray(at + HEADER_BYTES, end),
  };
}

/** The payload of DATA or HEADERS without padding and priority. Throws RangeError if the padding exceeds the payload. */
export function unpad(frame: Frame): Buffer {
  const padded = (frame.flags & FLAG.padded) !== 0;
  const prioritized = frame.type === FRAME.headers && (frame.flags & FLAG.priority) !== 0;
  const start = (padded ? 1 : 0) + (prioritized ? 5 : 0);
  const end = frame.payload.length - (padded ? (frame.payload[0] ?? 0) : 0);
  if (end < start) throw new RangeError('a frame with more padding than payload');
  return frame.payload.subarray(start, end);
}

/** How much the peer lets us send: its two windows and its largest frame (RFC 9113 §5.2, §6.9). */
export class SendWindow {
  #connectionBytes = WINDOW_DEFAULT_BYTES;
  /** Negative if the peer shrank the window after we had used it. */
  #streamBytes = WINDOW_DEFAULT_BYTES;
  #initialBytes = WINDOW_DEFAULT_BYTES;
  frameMaxBytes = FRAME_DEFAULT_MAX_BYTES;

  /** Bytes the next DATA frame may carry; 0 until the peer grants more. */
  get available(): number {
    return Math.max(0, Math.min(this.#connectionBytes, this.#streamBytes, this.frameMaxBytes));
  }

  spend(bytes: number): void {
    this.#connectionBytes -= bytes;
    this.#streamBytes -= bytes;
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE changes the open stream's window by the difference. */
  setInitial(bytes: number): void {
    this.#streamBytes = checked(this.#streamBytes + bytes - this.#initialBytes);
    this.#initialBytes = bytes;
  }

  grantConnection(bytes: number): void {
    this.#connectionBytes = checked(this.#connectionBytes + bytes);
  }

  grantStream(bytes: number): void {
    this.#streamBytes = checked(this.#streamBytes + bytes);
  }
}

function checked(bytes: number): number {
  if (bytes > WINDOW_LIMIT_BYTES) throw new RangeError(`a flow-control window of ${bytes} bytes`);
  return bytes;
}
