import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isErrno } from '../../core/errors.ts';

const CHUNK_BYTES = 64 * 1024;
const POLL_MS = 200;

export interface Tail {
  lines: string[];
  /** The offset in bytes up to which the file was read. */
  end: number;
}

/** The last lines of a file, read from its end. A missing file has no lines. */
export async function tailFile(file: string, count: number): Promise<Tail> {
  const handle = await openOrMissing(file);
  if (handle === undefined) return { lines: [], end: 0 };
  try {
    const end = (await handle.stat()).size;
    const lines = splitLines(await readTail(handle, end, count));
    return { lines: lines.slice(-count), end };
  } finally {
    await handle.close();
  }
}

/**
 * Passes whole lines to `show` as they are written after `end`, until the signal. A truncated file is read from its
 * start.
 */
export async function followFile(
  file: string,
  end: number,
  signal: AbortSignal,
  show: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let at = end; !signal.aborted; ) {
    const { text, next } = await readFrom(file, at);
    if (text !== '') await show(splitLines(text));
    at = next;
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

async function readTail(handle: FileHandle, end: number, count: number): Promise<string> {
  const chunks: Buffer[] = [];
  for (let at = end, newlines = 0; at > 0 && newlines <= count; ) {
    const size = Math.min(CHUNK_BYTES, at);
    at -= size;
    const chunk = await readExactly(handle, at, size);
    newlines += chunk.filter((byte) => byte === 0x0a).length;
    chunks.unshift(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readFrom(file: string, from: number): Promise<{ text: string; next: number }> {
  const handle = await openOrMissing(file);
  if (handle === undefined) return { text: '', next: 0 };
  try {
    const { size } = await handle.stat();
    const start = size < from ? 0 : from;
    const bytes = await readExactly(handle, start, size - start);
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    return { text: whole.toString('utf8'), next: start + whole.length };
  } finally {
    await handle.close();
  }
}

async function readExactly(handle: FileHandle, position: number, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await handle.read(buffer, 0, size, position);
  return buffer.subarray(0, bytesRead);
}

async function openOrMissing(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
