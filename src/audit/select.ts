import { type Line, linesForwards } from './lines.ts';
import type { AuditRecord } from './record.ts';
import type { RecordReader } from './record-reader.ts';
import { dayOf, listSegments } from './segments.ts';
import { logBackwards } from './tail.ts';

/** Which records are wanted. Absent: all. */
export interface AuditFilter {
  /** Milliseconds since the epoch; both included. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly tool?: string;
  readonly session?: string;
  /** Project root. */
  readonly project?: string;
  readonly door?: string;
  /** Only calls and acts that failed. */
  readonly isFailed?: boolean;
  /** A part of the masked input, without regard to case. */
  readonly text?: string;
}

/** A record with its line in the log. */
export interface LoggedRecord {
  readonly record: AuditRecord;
  readonly line: string;
}

/**
 * The newest `limit` records, oldest first. The start of a call whose end is in the log is left out. `reader` counts the lines
 * that it could not read.
 */
export async function searchAuditLog(
  dir: string,
  filter: AuditFilter,
  limit: number,
  reader: RecordReader,
): Promise<LoggedRecord[]> {
  const found: LoggedRecord[] = [];
  const ended = new Set<string>();
  const oldest = filter.sinceMs === undefined ? '' : dayOf(filter.sinceMs);
  for await (const line of logBackwards(dir, oldest)) {
    if (found.length >= limit) break;
    const logged = wanted(line, filter, ended, reader);
    if (logged !== null) found.push(logged);
  }
  return found.reverse();
}

/** Every record, oldest first; also the starts of calls. `reader` counts the lines that it could not read. */
export async function* readAuditLog(
  dir: string,
  filter: AuditFilter,
  reader: RecordReader,
): AsyncGenerator<LoggedRecord> {
  for (const { day, path } of await listSegments(dir)) {
    if (filter.sinceMs !== undefined && day < dayOf(filter.sinceMs)) continue;
    for await (const line of linesForwards(path)) {
      const logged = wanted(line, filter, null, reader);
      if (logged !== null) yield logged;
    }
  }
}

/** `ended` collects calls whose end was read. */
function wanted(line: Line, filter: AuditFilter, ended: Set<string> | null, reader: RecordReader): LoggedRecord | null {
  const record = reader.read(line);
  if (record === null) return null;
  if (record.began === true) ended?.add(record.request_id);
  if (record.kind === 'started' && ended?.has(record.request_id) === true) return null;
  return isWanted(record, filter) ? { record, line: line.bytes.toString('utf8') } : null;
}

function isWanted(record: AuditRecord, filter: AuditFilter): boolean {
  const { sinceMs, untilMs, tool, session, project, door, isFailed = false, text = '' } = filter;
  const at = Date.parse(record.time);
  if (sinceMs !== undefined && !(at >= sinceMs)) return false;
  if (untilMs !== undefined && !(at <= untilMs)) return false;
  if (isFailed && record.error_code === null && (record.exit_code ?? 0) === 0) return false;
  const given = [
    [tool, record.tool],
    [session, record.session],
    [project, record.project],
    [door, record.door],
  ] as const;
  if (given.some(([want, has]) => want !== undefined && want !== has)) return false;
  return text === '' || inputText(record).toLowerCase().includes(text.toLowerCase());
}

/** The strings of the input, not escaped. */
function inputText({ input }: AuditRecord): string {
  const texts: string[] = [];
  JSON.stringify(input, (_, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  return texts.join('\n');
}
