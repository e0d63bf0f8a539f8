import type { FileHandle } from 'node:fs/promises';
import { EtagBuilder, readSpan, type Span } from '../../src/sdk/file-bytes.ts';
import { type Charset, CharsetDetector } from '../../src/sdk/text-encoding.ts';
import { binaryFault, type OpenFile } from './open-file.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileFacts {
  etag: string;
  charset: Charset;
  bytes: number;
  /** Lines, including a last line without a newline. */
  lines: number;
  /** The span of the requested lines; null if the file ends before the first of them. */
  lineSpan: Span | null;
}

/** The requested lines, counted from 1, both included. */
export interface Lines {
  first: number;
  last: number;
}

/**
 * Reads the whole file once: its etag, encoding (if none is given), size, lines, and the span of the requested lines.
 * Throws PATH_INVALID if it is no text.
 */
export async function scanFile(
  opened: OpenFile,
  { etagKey, charset: given }: { etagKey: string; charset: Charset | null },
  wanted: Lines,
  signal: AbortSignal,
): Promise<FileFacts> {
  const { file, start } = opened;
  const detector = new CharsetDetector(start);
  if (given === null && detector.isBinary) throw await binaryFault(opened, signal);
  const etag = new EtagBuilder(etagKey);
  const lines = new LineFinder(wanted, given ?? detector.known);
  // A file that grows while it is read has no end.
  const { size } = await file.stat();
  for await (const chunk of readSpan(file, { start: 0, end: size }, signal)) {
    etag.add(chunk);
    if (given === null) detector.add(chunk);
    lines.add(chunk);
  }
  const charset = given ?? detector.finish();
  if (charset === null) throw await binaryFault(opened, signal);
  return { etag: etag.finish(), charset, ...lines.finish() };
}

export async function countNewlines(
  file: FileHandle,
  span: Span,
  charset: Charset,
  signal: AbortSignal,
): Promise<number> {
  const lines = new LineFinder({ first: 1, last: Number.POSITIVE_INFINITY }, charset, span.start);
  for await (const chunk of readSpan(file, span, signal)) lines.add(chunk);
  return lines.newlines;
}

/** The offset at which the last `count` of the lines begin. */
export async function findTail(
  file: FileHandle,
  { charset, bytes, lines }: FileFacts,
  count: number,
  signal: AbortSignal,
): Promise<number> {
  if (charset.unitBytes === 1) return findTailBackwards(file, bytes, count, signal);
  const finder = new LineFinder({ first: lines - count + 1, last: Number.POSITIVE_INFINITY }, charset);
  for await (const chunk of readSpan(file, { start: 0, end: bytes }, signal)) finder.add(chunk);
  return finder.finish().lineSpan?.start ?? 0;
}

async function findTailBackwards(file: FileHandle, bytes: number, count: number, signal: AbortSignal): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let left = count;
  // The newline at the end of the last line does not begin another line.
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

/** Counts lines over chunks and records where the requested lines begin and end. */
class LineFinder {
  readonly #wanted: Lines;
  /** The place of the newline byte in the units of UTF-16; null if a byte is a unit. */
  readonly #newlinePlace: 0 | 1 | null;
  #offset: number;
  #previous = 0;
  #endsWithNewline = true;
  #start: number | null;
  #end: number | null = null;
  newlines = 0;

  /** `charset`: null while it is known only that it extends ASCII. `offset`: of the first byte in the file. */
  constructor(wanted: Lines, charset: Charset | null, offset = 0) {
    this.#wanted = wanted;
    this.#newlinePlace = charset === null || charset.unitBytes === 1 ? null : charset.label === 'utf-16le' ? 0 : 1;
    this.#offset = offset;
    this.#start = wanted.first <= 1 ? 0 : null;
  }

  add(chunk: Buffer): void {
    if (this.#newlinePlace === null) this.#addBytes(chunk);
    else this.#addUnits(chunk, this.#newlinePlace);
    this.#offset += chunk.length;
  }

  finish(): { bytes: number; lines: number; lineSpan: Span | null } {
    const bytes = this.#offset;
    const lines = this.newlines + (this.#endsWithNewline ? 0 : 1);
    const isThere = this.#start !== null && this.#wanted.first <= Math.max(1, lines);
    return { bytes, lines, lineSpan: isThere ? { start: this.#start ?? 0, end: this.#end ?? bytes } : null };
  }

  /** A plain loop: a search from newline to newline is many times slower in short lines. */
  #addBytes(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE) this.#endLine(this.#offset + at + 1);
    this.#endsWithNewline = chunk.at(-1) === NEWLINE;
  }

  #addUnits(chunk: Buffer, newlinePlace: 0 | 1): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if ((this.#offset + at) % 2 === 1) {
        const [newline, other] = newlinePlace === 0 ? [this.#previous, byte] : [byte, this.#previous];
        this.#endsWithNewline = newline === NEWLINE && other === 0;
        if (this.#endsWithNewline) this.#endLine(this.#offset + at + 1);
      }
      this.#previous = byte;
    }
  }

  #endLine(end: number): void {
    this.newlines += 1;
    if (this.newlines === this.#wanted.first - 1) this.#start = end;
    if (this.newlines === this.#wanted.last) this.#end = end;
  }
}
