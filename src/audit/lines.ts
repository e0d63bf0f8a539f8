import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isErrno } from '../core/errors.ts';

/**
 * A line of a file, without its newline. What a reader makes of lines goes through `parseRecord` and `readChained`, which make
 * nothing of a torn one.
 */
export interface Line {
  readonly bytes: Buffer;
  /** True for the end of a file that has no newline. The log did not write it whole, or did not write it at all. */
  readonly isTorn: boolean;
}

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** No record is longer. What follows a longer line is not read. */
const LINE_MAX_BYTES = 32 * 1024 * 1024;

/** The lines of a file, from its start or from the byte at which a line begins. */
export async function* linesForwards(path: string, start = 0): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let pending = 0;
  for await (const chunk of createReadStream(path, { start }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield { bytes: Buffer.concat([...parts, chunk.subarray(from, end)]), isTorn: false };
      parts = [];
      pending = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    pending += chunk.length - from;
    if (pending > LINE_MAX_BYTES) break;
  }
  if (pending > 0) yield { bytes: Buffer.concat(parts), isTorn: true };
}

/** The lines of a file, last first; none if it is missing. */
export async function* linesBackwards(path: string): AsyncGenerator<Line> {
  const handle = await openIfThere(path);
  if (handle === null) return;
  try {
    let isEnd = true;
    for await (const bytes of splitBackwards(handle, (await handle.stat()).size)) {
      // After the last newline there is nothing in a file that was written whole.
      if (!isEnd || bytes.length > 0) yield { bytes, isTorn: isEnd };
      isEnd = false;
    }
  } finally {
    await handle.close();
  }
}

/** `carried` holds the pieces of a line whose start is not reached yet, last piece first. */
async function* splitBackwards(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  let carried: Buffer[] = [];
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = await readBlock(handle, start, end);
    let lineEnd = block.length;
    for (let at = block.lastIndexOf(NEWLINE); at !== -1; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      yield Buffer.concat([block.subarray(at + 1, lineEnd), ...carried.reverse()]);
      carried = [];
      lineEnd = at;
    }
    carried.push(block.subarray(0, lineEnd));
    end = start;
  }
  yield Buffer.concat(carried.reverse());
}

async function readBlock(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The lines of what was read. */
export function splitLines(content: Buffer): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (let end = content.indexOf(NEWLINE); end >= 0; end = content.indexOf(NEWLINE, from)) {
    lines.push({ bytes: content.subarray(from, end), isTorn: false });
    from = end + 1;
  }
  if (from < content.length) lines.push({ bytes: content.subarray(from), isTorn: true });
  return lines;
}
