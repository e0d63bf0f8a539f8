import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describeBinary, EtagBuilder, readSpan, type Span } from '../../src/sdk/file-bytes.ts';
import { ContextdError } from '../../src/sdk/tool.ts';
import { fileFault } from '../../src/sdk/workspace-path.ts';

/** The part at the start of a file that is checked for binary data. */
const SNIFF_BYTES = 64 * 1024;

/**
 * Opens a regular text file. `real` is a path without links: none is followed, and a named pipe does not block. Throws
 * PATH_INVALID for any other file.
 */
export async function openText(real: string, shown: string, signal: AbortSignal): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((cause: unknown) => {
    throw fileFault(cause, shown);
  });
  try {
    await refuseSpecial(file, shown);
    await refuseBinary(file, shown, signal);
    return file;
  } catch (thrown) {
    await file.close();
    throw fileFault(thrown, shown);
  }
}

async function refuseSpecial(file: FileHandle, shown: string): Promise<void> {
  const stats = await file.stat();
  if (stats.isFile()) return;
  const isDirectory = stats.isDirectory();
  throw new ContextdError('PATH_INVALID', `${shown} is ${isDirectory ? 'a directory' : 'not a regular file'}`, {
    remedy: isDirectory ? `List it with safe_bash {"command":"ls","cwd":${JSON.stringify(shown)}}.` : 'Name a file.',
    details: { path: shown, kind: isDirectory ? 'directory' : 'special' },
  });
}

async function refuseBinary(file: FileHandle, shown: string, signal: AbortSignal): Promise<void> {
  const buffer = Buffer.allocUnsafe(SNIFF_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const kind = describeBinary(buffer.subarray(0, bytesRead));
  if (kind === null) return;
  const { size } = await file.stat();
  throw new ContextdError('PATH_INVALID', `${shown} is not text: ${kind}, ${size} bytes`, {
    remedy: 'Inspect it with a program through safe_bash: file, xxd, unzip -l.',
    details: { path: shown, kind, bytes: size, sha256: await hashFile(file, signal) },
  });
}

async function hashFile(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readSpan(file, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) hash.update(chunk);
  return hash.digest('hex');
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileFacts {
  etag: string;
  bytes: number;
  /** Lines, including a last line without a newline. */
  lines: number;
  /** The span of the requested lines; null if the file ends before the first of them. */
  lineSpan: Span | null;
}

/** Reads the whole file once: its etag, size, lines, and the span of the lines `first` to `last`. */
export async function scanFile(
  file: FileHandle,
  etagKey: string,
  wanted: { first: number; last: number },
  signal: AbortSignal,
): Promise<FileFacts> {
  const etag = new EtagBuilder(etagKey);
  const lines = new LineFinder(wanted.first, wanted.last);
  // A file that grows while it is read has no end.
  const { size } = await file.stat();
  for await (const chunk of readSpan(file, { start: 0, end: size }, signal)) {
    etag.add(chunk);
    lines.add(chunk);
  }
  return { etag: etag.finish(), ...lines.finish() };
}

export async function countNewlines(file: FileHandle, span: Span, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const chunk of readSpan(file, span, signal))
    for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE) count += 1;
  return count;
}

/** The offset at which the last `count` lines begin, searched from the end. */
export async function findTail(file: FileHandle, bytes: number, count: number, signal: AbortSignal): Promise<number> {
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
    // A plain loop: a search from newline to newline is many times slower in short lines.
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== NEWLINE) continue;
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
