import { createHmac, type Hmac } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { imageSize } from './image-size.ts';

const CHUNK_BYTES = 256 * 1024;

/** A part of a file: byte offsets, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Reads a span in chunks of at most 256 KiB. A chunk is valid only until the next one is read. */
export async function* readSpan(file: FileHandle, span: Span, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, span.end - span.start)));
  for (let position = span.start; position < span.end; ) {
    signal.throwIfAborted();
    const wanted = Math.min(buffer.length, span.end - position);
    const { bytesRead } = await file.read(buffer, 0, wanted, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const ETAG_CHARS = 16;

/** Computes an etag over bytes that arrive in parts: the first 16 hexadecimal digits of HMAC-SHA256 with the session's key. */
export class EtagBuilder {
  readonly #hmac: Hmac;

  /** `etagKey` is hexadecimal. */
  constructor(etagKey: string) {
    this.#hmac = createHmac('sha256', Buffer.from(etagKey, 'hex'));
  }

  add(bytes: Buffer): void {
    this.#hmac.update(bytes);
  }

  finish(): string {
    return this.#hmac.digest('hex').slice(0, ETAG_CHARS);
  }
}

const SIGNATURES: readonly (readonly [kind: string, hex: string])[] = [
  ['ELF program', '7f454c46'],
  ['PNG image', '89504e470d0a1a0a'],
  ['JPEG image', 'ffd8ff'],
  ['GIF image', '47494638'],
  ['PDF document', '255044462d'],
  ['ZIP archive', '504b0304'],
  ['gzip data', '1f8b'],
  ['zstd data', '28b52ffd'],
  ['xz data', 'fd377a585a00'],
  ['bzip2 data', '425a68'],
  ['SQLite database', '53514c69746520666f726d6174203300'],
  ['WebAssembly module', '0061736d'],
  ['Java class', 'cafebabe'],
  ['UTF-32 text', 'fffe0000'],
  ['UTF-32 text', '0000feff'],
  ['UTF-16 text', 'fffe'],
  ['UTF-16 text', 'feff'],
];

/** Names the kind of binary data that begins with these bytes, with the size of an image in pixels. */
export function nameBinary(start: Buffer): string {
  const found = SIGNATURES.find(([, hex]) => start.subarray(0, hex.length / 2).toString('hex') === hex);
  const kind = found?.[0] ?? (imageSize(start) === null ? 'binary data' : nameImage(start));
  const size = imageSize(start);
  return size === null ? kind : `${kind}, ${size.width} × ${size.height} pixels`;
}

/** Images whose first bytes alone are no signature. */
function nameImage(start: Buffer): string {
  return start[0] === 0x42 ? 'BMP image' : 'WebP image';
}
