import { type Line, linesBackwards } from './lines.ts';
import { type AuditRecord, hasWaited, parseRecord } from './record.ts';
import { RecordReader } from './record-reader.ts';
import { dayOf, listSegments } from './segments.ts';

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
  for await (const line of logBackwards(dir)) {
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
  for await (const line of logBackwards(dir, dayOf(sinceMs))) {
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
  for await (const line of logBackwards(dir, dayOf(sinceMs))) {
    if (newestFirst.length >= CALLS_MAX || ids?.size === 0) break;
    const record = line.bytes.includes(needle) ? parseRecord(line) : null;
    if (record === null || record.project !== project || record.kind !== undefined || record.session === '') continue;
    if (ids === null) session ||= record.session;
    if (ids === null ? record.session === session : ids.delete(record.request_id)) newestFirst.push(record);
  }
  return newestFirst.reverse();
}

/** The lines of the log, newest first. `oldest` is the first UTC day to read. Default: all days. */
export async function* logBackwards(dir: string, oldest = ''): AsyncGenerator<Line> {
  for (const { day, path } of (await listSegments(dir)).reverse()) if (day >= oldest) yield* linesBackwards(path);
}
