import type { FileHandle } from 'node:fs/promises';
import { EtagBuilder } from '../../src/sdk/etag.ts';
import { readSpan, type Span } from '../../src/sdk/file-span.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileFacts {
  etag: string;
  bytes: number;
  /** Lines; a last one without a newline counts. */
  lines: number;
  /** Where the wanted lines lie; null when the file ends before the first of them. */
  lineSpan: Span | null;
}

/** One pass over the whole file: its etag, its size, its lines, and where lines `first` to `last` lie. */
export async function scanFile(
  file: FileHandle,
  etagKey: string,
  wanted: { first: number; last: number },
  signal: AbortSignal,
): Promise<FileFacts> {
  const etag = new EtagBuilder(etagKey);
  const lines = new LineFinder(wanted.first, wanted.last);
  for await (const chunk of readSpan(file, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) {
    etag.add(chunk);
    lines.add(chunk);
  }
  return { etag: etag.finish(), ...lines.finish() };
}

/** Where the last `count` lines begin, found from the end. */
export async function findTail(file: FileHandle, bytes: number, count: number, signal: AbortSignal): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let left = count;
  // The newline that ends the last line does not begin another.
  for (let end = Math.max(0, bytes - 1); end > 0; ) {
    signal.throwIfAborted();
    const start = Math.max(0, end - buffer.length);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    for (let at = buffer.lastIndexOf(NEWLINE, bytesRead - 1); at !== -1; at = before(buffer, at)) {
      left -= 1;
      if (left === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

function before(buffer: Buffer, at: number): number {
  return at === 0 ? -1 : buffer.lastIndexOf(NEWLINE, at - 1);
}

/** Counts lines over chunks and notes where the wanted ones begin and end. */
class LineFinder {
  readonly #first: number;
  readonly #last: number;
  #offset = 0;
  #newlines = 0;
  #endsWithNewline = true;
  #start: number | null;
  #end: number | null = null;

  constructor(first: number, last: number) {
    this.#first = first;
    this.#last = last;
    this.#start = first <= 1 ? 0 : null;
  }

  add(chunk: Buffer): void {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
      this.#newlines += 1;
      if (this.#newlines === this.#first - 1) this.#start = this.#offset + at + 1;
      if (this.#newlines === this.#last) this.#end = this.#offset + at + 1;
    }
    this.#offset += chunk.length;
    this.#endsWithNewline = chunk.at(-1) === NEWLINE;
  }

  finish(): { bytes: number; lines: number; lineSpan: Span | null } {
    const bytes = this.#offset;
    const lines = this.#newlines + (this.#endsWithNewline ? 0 : 1);
    const isThere = this.#start !== null && this.#first <= Math.max(1, lines);
    return { bytes, lines, lineSpan: isThere ? { start: this.#start ?? 0, end: this.#end ?? bytes } : null };
  }
}
