import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** A part of a file: byte offsets, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** The bytes of a span in chunks of at most 256 KiB. The chunk is only good until the next one. */
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
