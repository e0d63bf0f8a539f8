import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isErrno } from '../core/errors.ts';
import { type AuditRecord, hasWaited, parseRecord } from './record.ts';
import { RecordReader } from './record-reader.ts';
import { dayOf, listSegments } from './segments.ts';

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** Calls that `findCalls` returns. */
const CALLS_MAX = 500;

/**
 * The newest `limit` records, oldest first, read backwards from the last day. Leaves out the start of a call whose end is
 * recorded. `reader` counts the lines that it could not read.
 */
export async function readTail(
  dir: string,
  limit: number,
  project: string | undefined,
  reader = new RecordReader(),
): Promise<AuditRecord[]> {
  const needle = project === undefined ? undefined : Buffer.from(JSON.stringify(project));
  const ended = new Set<string>();
  const newestFirst: AuditRecord[] = [];
  for await (const line of linesBackwards(dir)) {
    if (newestFirst.length >= limit) break;
    const record = reader.read(line, needle);
    if (record === null || (project !== undefined && record.project !== project)) continue;
    if (record.began === true) ended.add(record.request_id);
    if (record.kind !== 'started' || !ended.delete(record.request_id)) newestFirst.push(record);
  }
  return newestFirst.reverse();
}

/**
 * For each of `requestIds`: null if the log holds its end; otherwise its start record, or that it waits for a person if it has
 * not started. A call that is missing in the result is not in the log. Reads the days from `sinceMs` on (milliseconds since the epoch).
 */
export async function findStarts(
  dir: string,
  requestIds: readonly string[],
  sinceMs: number,
): Promise<Map<string, AuditRecord | null>> {
  const wanted = new Set(requestIds);
  const found = new Map<string, AuditRecord | null>();
  for await (const line of linesBackwards(dir, dayOf(sinceMs))) {
    if (wanted.size === 0) break;
    const record = parseRecord(line);
    if (record === null || !wanted.has(record.request_id)) continue;
    const isOpen = record.kind === 'started' || record.kind === 'asked';
    if (!isOpen && record.began !== true && !hasWaited(record)) continue;
    found.set(record.request_id, isOpen ? record : null);
    wanted.delete(record.request_id);
  }
  return found;
}

/** Calls of a project that ended, oldest first: those with the ids, or the newest of a session ("": of the newest call's). */
export async function findCalls(
  dir: string,
  project: string,
  wanted: { requestIds: readonly string[] } | { session: string },
  sinceMs: number,
): Promise<AuditRecord[]> {
  const needle = Buffer.from(JSON.stringify(project));
  const ids = 'requestIds' in wanted ? new Set(wanted.requestIds) : null;
  let session = 'session' in wanted ? wanted.session : '';
  const newestFirst: AuditRecord[] = [];
  for await (const line of linesBackwards(dir, dayOf(sinceMs))) {
    if (newestFirst.length >= CALLS_MAX || ids?.size === 0) break;
    const record = line.includes(needle) ? parseRecord(line) : null;
    if (record === null || record.project !== project || record.kind !== undefined || record.session === '') continue;
    if (ids === null) session ||= record.session;
    if (ids === null ? record.session === session : ids.delete(record.request_id)) newestFirst.push(record);
  }
  return newestFirst.reverse();
}

/** `oldest` is the first UTC day to read. Default: all days. */
export async function* linesBackwards(dir: string, oldest = ''): AsyncGenerator<Buffer> {
  for (const { day, path } of (await listSegments(dir)).reverse()) if (day >= oldest) yield* readLinesBackwards(path);
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

/** A line of a file, without its newline. */
export interface Line {
  readonly bytes: Buffer;
  /** True for a last line without a newline. */
  readonly isTorn: boolean;
}

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
