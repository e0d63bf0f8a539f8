import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { type AuditRecord, parseRecord } from './audit-record.ts';

const DAY_FILE = /^audit-\d{4}-\d{2}-\d{2}\.jsonl$/;
const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The newest `limit` records, oldest first, read backwards from the last day. Torn lines are passed over. */
export async function readTail(dir: string, limit: number, project: string | undefined): Promise<AuditRecord[]> {
  const needle = project === undefined ? undefined : Buffer.from(JSON.stringify(project));
  const newestFirst: AuditRecord[] = [];
  for (const name of await listDays(dir)) {
    for await (const line of readLinesBackwards(join(dir, name))) {
      if (newestFirst.length >= limit) return newestFirst.reverse();
      if (needle && !line.includes(needle)) continue;
      const record = parseRecord(line);
      if (record && (project === undefined || record.project === project)) newestFirst.push(record);
    }
  }
  return newestFirst.reverse();
}

/** File names, newest day first. */
async function listDays(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return names
    .filter((name) => DAY_FILE.test(name))
    .sort()
    .reverse();
}

async function* readLinesBackwards(path: string): AsyncGenerator<Buffer> {
  const handle = await openIfThere(path);
  if (handle === null) return;
  try {
    yield* splitBackwards(handle, (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

/** `carried` holds the pieces of a line whose start has not been reached, last piece first. */
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
